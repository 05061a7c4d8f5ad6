import type { ScopedRouteConfiguration } from "../../gen/types/envoy/config/route/v3/scoped_route_pb.d.ts";
import { type CatalogEntry, defineEntry, type ReportFinding } from "./entry.ts";

/** SRDS: refers to one RouteConfiguration. */
export const scopedRouteConfiguration: CatalogEntry = defineEntry<ScopedRouteConfiguration>({
  message: "envoy.config.route.v3.ScopedRouteConfiguration",
  kind: "srds",
  shortName: "srds",
  isFullState: true,
  v2Message: "envoy.api.v2.ScopedRouteConfiguration",
  discovery: {
    services: { v3: "envoy.service.route.v3.ScopedRoutes", v2: "envoy.api.v2.ScopedRoutes" },
    noun: "ScopedRoutes",
    // The protocol page spells the service without the "s" in the middle, so some clients do too (S-GRP-02).
    alias: ["ScopedRoutes", "ScopedRoute"],
    rest: "scoped-routes",
  },
  nameField: "name",
  check: checkScope,
});

function checkScope(content: ScopedRouteConfiguration, report: ReportFinding): void {
  const hasName = content.routeConfigurationName !== "";
  const hasInline = content.routeConfiguration !== undefined;
  if (hasName !== hasInline) return;
  const got = hasName ? "both" : "none";
  report(
    "ROUTE_SCOPE_TARGET_INVALID",
    [],
    `expected either \`route_configuration_name\` or \`route_configuration\`, got ${got}: Envoy rejects it`,
  );
}
