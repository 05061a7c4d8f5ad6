/** The paths of REST discovery: JSON, one response per request (requirements 1.2). */
import { type ApiVersion, formatTypeUrl, type TypeUrl } from "@xdskit/protocol";

/** A path of REST discovery and its type. */
export interface RestPath {
  /** Such as `/v3/discovery:clusters`. */
  readonly path: string;
  readonly apiVersion: ApiVersion;
  /** The type of a request that names none. */
  readonly type: TypeUrl;
  /** The same type in the other API version, which a request may also name (S-TYP-06). */
  readonly twin: TypeUrl | undefined;
}

const LDS = "envoy.config.listener.v3.Listener";
const RDS = "envoy.config.route.v3.RouteConfiguration";
const SRDS = "envoy.config.route.v3.ScopedRouteConfiguration";
const CDS = "envoy.config.cluster.v3.Cluster";
const EDS = "envoy.config.endpoint.v3.ClusterLoadAssignment";
const SDS = "envoy.extensions.transport_sockets.tls.v3.Secret";
const RTDS = "envoy.service.runtime.v3.Runtime";
const ECDS = "envoy.config.core.v3.TypedExtensionConfig";

/**
 * Every path. Mind the spellings: `scoped-routes` has a hyphen, `extension_configs` an underscore, `runtime` is
 * singular.
 */
export const restPaths: readonly RestPath[] = [
  ...bothVersions("listeners", "envoy.api.v2.Listener", LDS),
  ...bothVersions("routes", "envoy.api.v2.RouteConfiguration", RDS),
  ...bothVersions("scoped-routes", "envoy.api.v2.ScopedRouteConfiguration", SRDS),
  ...bothVersions("clusters", "envoy.api.v2.Cluster", CDS),
  ...bothVersions("endpoints", "envoy.api.v2.ClusterLoadAssignment", EDS),
  ...bothVersions("secrets", "envoy.api.v2.auth.Secret", SDS),
  ...bothVersions("runtime", "envoy.service.discovery.v2.Runtime", RTDS),
  { path: "/v3/discovery:extension_configs", apiVersion: "v3", type: formatTypeUrl(ECDS), twin: undefined },
];

function bothVersions(noun: string, v2Message: string, v3Message: string): readonly RestPath[] {
  const v2 = formatTypeUrl(v2Message);
  const v3 = formatTypeUrl(v3Message);
  return [
    { path: `/v2/discovery:${noun}`, apiVersion: "v2", type: v2, twin: v3 },
    { path: `/v3/discovery:${noun}`, apiVersion: "v3", type: v3, twin: v2 },
  ];
}

/** Paths without a REST form, with the reason (B-RST-05, B-ADS-07, B-DLT-01). */
export const pathsWithoutRest: ReadonlyMap<string, string> = new Map(
  ["v2", "v3"].flatMap((version) => [
    [`/${version}/discovery:aggregated`, "there is no ADS over REST; poll the path of each type, or use gRPC"],
    [`/${version}/discovery:virtual_hosts`, "virtual hosts are served by delta only, and there is no delta over REST"],
    [`/${version}/discovery:virtual-hosts`, "virtual hosts are served by delta only, and there is no delta over REST"],
    [`/${version}/discovery:locality_endpoints`, "LEDS is served by delta only, and there is no delta over REST"],
    [`/${version}/discovery:load_stats`, "load is reported over a stream; use gRPC"],
  ]),
);
