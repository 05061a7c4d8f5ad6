import type { HttpConnectionManager } from "../../gen/types/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.d.ts";
import { defineNestedCheck, type NestedCheck, type ReportFinding } from "./entry.ts";

const ROUTER = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";

/** What gRPC clients reject in the `api_listener` of a Listener (A27, A39, A41); Envoy would take it in a filter chain. */
export const apiListenerCheck: NestedCheck = defineNestedCheck<HttpConnectionManager>(
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
  (content, report, at) => {
    if (at.join(".") !== "api_listener.api_listener") return;
    checkRoutes(content, report);
    checkFilters(content, report);
    const { xffNumTrustedHops, originalIpDetectionExtensions } = content;
    if (xffNumTrustedHops === 0 && originalIpDetectionExtensions.length === 0) return;
    const message =
      "expected neither `xff_num_trusted_hops` nor `original_ip_detection_extensions`: gRPC clients reject them";
    report("LISTENER_API_LISTENER_INVALID", [], message);
  },
);

function checkRoutes({ routeSpecifier }: HttpConnectionManager, report: ReportFinding): void {
  if (routeSpecifier.case === "routeConfig") return;
  if (routeSpecifier.case !== "rds") {
    const got = routeSpecifier.case === undefined ? "none" : "`scoped_routes`";
    const message = `expected rds or a \`route_config\`, got ${got}: gRPC clients reject it`;
    report("LISTENER_API_LISTENER_INVALID", [], message);
    return;
  }
  const source = routeSpecifier.value.configSource?.configSourceSpecifier.case;
  if (source === "ads" || source === "self") return;
  const message = "expected a `config_source` of ads or self: gRPC clients reject another";
  report("LISTENER_API_LISTENER_INVALID", ["rds"], message);
}

/** Optional filters that gRPC does not know are left out by it. */
function checkFilters({ httpFilters }: HttpConnectionManager, report: ReportFinding): void {
  const routers = httpFilters.map(({ configType: { case: kind, value } }) => kind === "typedConfig" && isRouter(value));
  const needed = routers.filter((isTheRouter, index) => isTheRouter || httpFilters[index]?.isOptional === false);
  if (needed.at(-1) === true && needed.indexOf(true) === needed.length - 1) return;
  const got = httpFilters.length === 0 ? "none" : needed.includes(true) ? "it before others" : "others";
  const message = `expected the router as the last of \`http_filters\`, got ${got}: gRPC clients reject it`;
  report("LISTENER_API_LISTENER_INVALID", httpFilters.length === 0 ? [] : ["http_filters"], message);
}

function isRouter({ typeUrl }: { readonly typeUrl: string }): boolean {
  return typeUrl === ROUTER;
}
