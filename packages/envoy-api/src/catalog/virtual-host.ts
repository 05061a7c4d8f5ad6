import { formatVirtualHostName, parseVirtualHostName, virtualHostTerms } from "@xdskit/protocol/internal";
import type { VirtualHost } from "../../gen/types/envoy/config/route/v3/route_components_pb.d.ts";
import { type CatalogEntry, defineEntry, type ReportFinding } from "./entry.ts";
import { resourceType } from "./resource-type.ts";

/** VHDS: named "<route configuration>/<host>", by the wrapper or by the message (B-VHD-01). */
export const virtualHost: CatalogEntry = defineEntry<VirtualHost>({
  message: "envoy.config.route.v3.VirtualHost",
  kind: "vhds",
  shortName: "vhds",
  v2Message: "envoy.api.v2.route.VirtualHost",
  discovery: {
    services: { v3: "envoy.service.route.v3.VirtualHost", v2: "envoy.api.v2.VirtualHost" },
    noun: "VirtualHosts",
    calls: ["delta"],
    rest: {
      absent: ["virtual_hosts", "virtual-hosts"],
      reason: "virtual hosts are served by delta only, and there is no delta over REST",
    },
  },
  nameIn: (content) => (content.name.includes("/") ? content.name : undefined),
  namingHint:
    'name it "<route configuration>/<host>", best in the virtual host itself, else in an envoy.service.discovery.v3.Resource around it',
  aliasesIn: findDomains,
  terms: virtualHostTerms,
  owner: resourceType.routeConfiguration,
  check: checkVirtualHost,
});

/** A client subscribes to the host of a request, which matches one of the domains (S-VHD-03). */
function findDomains(content: VirtualHost, name: string): readonly string[] {
  const routes = parseVirtualHostName(name)?.routes;
  if (routes === undefined) return [];
  return content.domains.map((host) => formatVirtualHostName({ routes, host }));
}

function checkVirtualHost(content: VirtualHost, report: ReportFinding, name: string): void {
  if (!name.includes("/")) {
    report(
      "ROUTE_VIRTUAL_HOST_UNPREFIXED",
      [],
      `expected a name that begins with that of its route configuration and "/", got ${JSON.stringify(name)}: Envoy ignores it`,
    );
  } else if (content.name !== name) {
    report(
      "ROUTE_VIRTUAL_HOST_NAME_DIFFERS",
      ["name"],
      `expected the name ${JSON.stringify(name)}, which it is sent under, got ${JSON.stringify(content.name)}: Envoy can never remove it`,
    );
  }
}
