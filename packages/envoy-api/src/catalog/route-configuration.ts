import type { Route, VirtualHost } from "../../gen/types/envoy/config/route/v3/route_components_pb.d.ts";
import type { RouteConfiguration } from "../../gen/types/envoy/config/route/v3/route_pb.d.ts";
import { regexProblem } from "../validation/regex-check.ts";
import { type AskedReference, isAskedOverXds } from "./config-source.ts";
import { type CatalogEntry, defineEntry, type ReportFinding } from "./entry.ts";
import { resourceType } from "./resource-type.ts";

/** RDS: its clusters are found in route actions. Checked inside an HttpConnectionManager too. */
export const routeConfiguration: CatalogEntry = defineEntry<RouteConfiguration>({
  message: "envoy.config.route.v3.RouteConfiguration",
  kind: "rds",
  shortName: "rds",
  v2Message: "envoy.api.v2.RouteConfiguration",
  discovery: {
    services: { v3: "envoy.service.route.v3.Route", v2: "envoy.api.v2.Route" },
    noun: "Routes",
    isIncremental2018: true,
    rest: "routes",
  },
  nameField: "name",
  // A client that updates a route table drops its on-demand virtual hosts (S-VHD-04).
  owes: [resourceType.virtualHost],
  referencesIn: findVirtualHosts,
  check: checkRouteConfiguration,
  checksNested: true,
});

/** Refers to all virtual hosts of an on-demand route table: its name and a slash. */
function findVirtualHosts(content: RouteConfiguration): readonly AskedReference[] {
  const source = content.vhds?.configSource;
  if (!isAskedOverXds(source)) return [];
  return [{ type: resourceType.virtualHost, name: `${content.name}/`, source }];
}

function checkRouteConfiguration(content: RouteConfiguration, report: ReportFinding): void {
  const domains = new Map<string, string>();
  const names = new Set<string>();
  content.virtualHosts.forEach((host, index) => {
    const path = ["virtual_hosts", index];
    if (names.has(host.name)) {
      report(
        "ROUTE_VIRTUAL_HOST_DUPLICATE",
        [...path, "name"],
        `expected each virtual host once, got ${JSON.stringify(host.name)} again: Envoy rejects it`,
      );
    }
    names.add(host.name);
    checkDomains(host, path, domains, report);
    checkRoutes(host, path, report);
  });
}

/** Two virtual hosts must not share a domain: clients reject the whole RouteConfiguration. */
function checkDomains(
  host: VirtualHost,
  path: readonly (string | number)[],
  seen: Map<string, string>,
  report: ReportFinding,
): void {
  host.domains.forEach((domain, index) => {
    const key = domain.toLowerCase();
    const owner = seen.get(key);
    if (owner === undefined) {
      seen.set(key, host.name);
      return;
    }
    const where = owner === host.name ? "the same virtual host" : `virtual host ${JSON.stringify(owner)}`;
    report(
      "ROUTE_DOMAIN_DUPLICATE",
      [...path, "domains", index],
      `expected each domain once, got ${JSON.stringify(domain)}, which ${where} has: clients reject it`,
    );
  });
}

function checkRoutes(host: VirtualHost, path: readonly (string | number)[], report: ReportFinding): void {
  host.routes.forEach((route, index) => {
    checkRegexes(route, [...path, "routes", index, "match"], report);
    if (route.action.case !== "route") return;
    const specifier = route.action.value.clusterSpecifier;
    if (specifier.case !== "weightedClusters") return;
    const total = specifier.value.clusters.reduce((sum, { weight }) => sum + (weight ?? 0), 0);
    if (total > 0) return;
    const where = [...path, "routes", index, "route", "weighted_clusters"];
    report("ROUTE_WEIGHTS_ZERO", where, "expected weights that add up to more than 0: clients reject it");
  });
}

/** The regular expressions by which a route is chosen. */
function checkRegexes({ match }: Route, path: readonly (string | number)[], report: ReportFinding): void {
  const check = (regex: string, at: readonly (string | number)[]): void => {
    const problem = regexProblem(regex);
    if (problem === undefined) return;
    const got = JSON.stringify(regex.slice(0, 60));
    report(
      "ROUTE_REGEX_INVALID",
      at,
      `expected a regular expression of RE2, got ${got}: ${problem}; clients reject it`,
    );
  };
  if (match?.pathSpecifier.case === "safeRegex") {
    check(match.pathSpecifier.value.regex, [...path, "safe_regex", "regex"]);
  }
  for (const [index, { headerMatchSpecifier }] of (match?.headers ?? []).entries()) {
    const at = [...path, "headers", index];
    if (headerMatchSpecifier.case === "safeRegexMatch") {
      check(headerMatchSpecifier.value.regex, [...at, "safe_regex_match", "regex"]);
    } else if (headerMatchSpecifier.case === "stringMatch") {
      const { matchPattern } = headerMatchSpecifier.value;
      if (matchPattern.case === "safeRegex") {
        check(matchPattern.value.regex, [...at, "string_match", "safe_regex", "regex"]);
      }
    }
  }
}
