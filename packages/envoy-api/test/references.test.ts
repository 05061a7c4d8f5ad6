import type { TypeUrl } from "@xdskit/protocol";
import { describe, expect, it } from "vitest";
import { api, typed, url, V3 } from "./support/api.ts";

const ADS = { ads: {}, resource_api_version: "V3" };
const FILE = { path_config_source: { path: "/etc/envoy/x.yaml" } };

describe("names and references of each type", () => {
  const filter = (message: string, fields: object): object => ({ name: "f", typed_config: typed(message, fields) });
  const http = (fields: object): object => filter(V3.http, { stat_prefix: "s", ...fields });
  const toCluster = (name: string): readonly [string, string] => [V3.cluster, name];
  const SCOPES = "xdstp://x/envoy.config.route.v3.ScopedRouteConfiguration/*";
  const scopesFrom = (scoped_rds: object): object => ({
    scoped_routes: { name: "s", scope_key_builder: {}, rds_config_source: ADS, scoped_rds },
  });
  const grpc = (cluster: string): object => ({ grpc_service: { envoy_grpc: { cluster_name: cluster } } });

  it.each<[string, unknown, string, readonly (readonly [string, string])[]]>([
    [
      "a Cluster refers to its endpoints by its name",
      typed(V3.cluster, { name: "c", type: "EDS", eds_cluster_config: { eds_config: ADS } }),
      "c",
      [[V3.endpoints, "c"]],
    ],
    [
      "a Cluster refers to its endpoints by the service name (G6)",
      typed(V3.cluster, { name: "c", type: 3, edsClusterConfig: { edsConfig: { self: {} }, serviceName: "svc" } }),
      "c",
      [[V3.endpoints, "svc"]],
    ],
    [
      "a Cluster with endpoints from a file refers to none",
      typed(V3.cluster, { name: "c", type: "EDS", eds_cluster_config: { eds_config: FILE } }),
      "c",
      [],
    ],
    [
      "the cluster that an xDS source is asked through is no reference",
      typed(V3.cluster, {
        name: "c",
        type: "EDS",
        eds_cluster_config: {
          eds_config: {
            api_config_source: { api_type: "GRPC", grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }] },
          },
        },
      }),
      "c",
      [[V3.endpoints, "c"]],
    ],
    [
      "a Cluster refers to Secrets of its transport socket, each once, and not to those of files",
      typed(V3.cluster, {
        name: "c",
        load_assignment: { cluster_name: "c" },
        transport_socket: {
          name: "tls",
          typed_config: typed("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", {
            common_tls_context: {
              tls_certificate_sds_secret_configs: [
                { name: "cert", sds_config: ADS },
                { name: "cert", sds_config: ADS },
                { name: "static" },
                { name: "file", sds_config: FILE },
              ],
              combined_validation_context: {
                default_validation_context: {},
                validation_context_sds_secret_config: { name: "ca", sds_config: ADS },
              },
            },
          }),
        },
      }),
      "c",
      [
        [V3.secret, "cert"],
        [V3.secret, "ca"],
      ],
    ],
    [
      "an aggregate Cluster refers to its clusters",
      typed(V3.cluster, {
        name: "c",
        cluster_type: {
          name: "envoy.clusters.aggregate",
          typed_config: typed("envoy.extensions.clusters.aggregate.v3.ClusterConfig", { clusters: ["a", "b"] }),
        },
      }),
      "c",
      [toCluster("a"), toCluster("b")],
    ],
    [
      "a Listener refers to routes in all its filter chains and its api_listener",
      typed(V3.listener, {
        name: "l",
        address: { pipe: { path: "/x" } },
        filter_chains: [{ filters: [http({ rds: { route_config_name: "r1", config_source: ADS } })] }],
        default_filter_chain: { filters: [http({ rds: { route_config_name: "r2", config_source: FILE } })] },
        api_listener: { api_listener: typed(V3.http, { rds: { route_config_name: "r3", config_source: ADS } }) },
      }),
      "l",
      [
        [V3.route, "r1"],
        [V3.route, "r3"],
      ],
    ],
    [
      "a Listener refers to the routes of inline scopes, and to clusters of inline routes",
      typed(V3.listener, {
        name: "l",
        filter_chains: [
          {
            filters: [
              http({
                scoped_routes: {
                  name: "s",
                  scope_key_builder: {},
                  rds_config_source: ADS,
                  scoped_route_configurations_list: {
                    scoped_route_configurations: [{ name: "a", route_configuration_name: "r" }],
                  },
                },
              }),
              http({
                route_config: {
                  virtual_hosts: [
                    { name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "web" } }] },
                  ],
                },
              }),
            ],
          },
        ],
      }),
      "l",
      [[V3.route, "r"], toCluster("web")],
    ],
    [
      "a Listener refers to all scopes, or to those of a collection",
      typed(V3.listener, {
        name: "l",
        filter_chains: [
          { filters: [http(scopesFrom({ scoped_rds_config_source: ADS }))] },
          { filters: [http(scopesFrom({ scoped_rds_config_source: FILE }))] },
          { filters: [http(scopesFrom({ scoped_rds_config_source: ADS, srds_resources_locator: SCOPES }))] },
        ],
      }),
      "l",
      [
        [V3.scope, "*"],
        [V3.scope, SCOPES],
      ],
    ],
    [
      "a Listener refers to what its filters call, log to and are discovered by",
      typed(V3.listener, {
        name: "l",
        filter_chains: [
          {
            filters: [
              http({
                rds: { route_config_name: "r", config_source: ADS },
                http_filters: [
                  filter("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", grpc("authz")),
                  filter("envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", grpc("proc")),
                  filter("envoy.extensions.filters.http.ratelimit.v3.RateLimit", { rate_limit_service: grpc("limit") }),
                  filter("envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication", {
                    providers: {
                      p: { remote_jwks: { http_uri: { uri: "https://x", cluster: "jwks", timeout: "1s" } } },
                    },
                  }),
                  { name: "discovered", config_discovery: { config_source: ADS, type_urls: [url(V3.router)] } },
                ],
                access_log: [
                  {
                    name: "als",
                    typed_config: typed("envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", {
                      common_config: { log_name: "x", ...grpc("als") },
                    }),
                  },
                ],
                tracing: {
                  provider: {
                    name: "zipkin",
                    typed_config: typed("envoy.config.trace.v3.ZipkinConfig", { collector_cluster: "zipkin" }),
                  },
                },
              }),
              filter("envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", {
                stat_prefix: "t",
                weighted_clusters: { clusters: [{ name: "tcp-a", weight: 1 }] },
              }),
              filter("envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: "t", cluster: "tcp-b" }),
              filter("envoy.extensions.filters.network.redis_proxy.v3.RedisProxy", {
                stat_prefix: "r",
                prefix_routes: { catch_all_route: { cluster: "redis" } },
              }),
              filter("envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy", {
                stat_prefix: "t",
                trds: { config_source: ADS, route_config_name: "thrift" },
              }),
            ],
          },
        ],
        listener_filters: [{ name: "lf", config_discovery: { config_source: ADS, type_urls: ["x"] } }],
      }),
      "l",
      [
        [V3.route, "r"],
        toCluster("authz"),
        toCluster("proc"),
        toCluster("limit"),
        toCluster("jwks"),
        [V3.extension, "discovered"],
        toCluster("zipkin"),
        toCluster("als"),
        toCluster("tcp-a"),
        toCluster("tcp-b"),
        toCluster("redis"),
        [V3.thriftRoute, "thrift"],
        [V3.extension, "lf"],
      ],
    ],
    [
      "a RouteConfiguration refers to the clusters of its actions, not to those that a header names",
      typed(V3.route, {
        name: "r",
        virtual_hosts: [
          {
            name: "v",
            domains: ["*"],
            routes: [
              { match: { prefix: "/a" }, route: { cluster: "a", request_mirror_policies: [{ cluster: "mirror" }] } },
              {
                match: { prefix: "/b" },
                route: {
                  weighted_clusters: {
                    clusters: [
                      { name: "b1", weight: 1 },
                      { name: "b2", weight: 1 },
                    ],
                  },
                },
              },
              { match: { prefix: "/c" }, route: { cluster_header: "x-cluster" } },
              { match: { prefix: "/d" }, redirect: { host_redirect: "x" } },
            ],
          },
        ],
      }),
      "r",
      ["a", "mirror", "b1", "b2"].map(toCluster),
    ],
    [
      "a scope refers to its RouteConfiguration",
      typed(V3.scope, { name: "s", route_configuration_name: "r", key: { fragments: [{ string_key: "k" }] } }),
      "s",
      [[V3.route, "r"]],
    ],
    [
      "a VirtualHost is named by its wrapper and refers to clusters",
      typed(V3.wrapper, {
        name: "rc/a.example",
        resource: typed(V3.virtualHost, {
          name: "rc/a.example",
          domains: ["a.example"],
          routes: [{ match: { prefix: "/" }, route: { cluster: "c" } }],
        }),
      }),
      "rc/a.example",
      [toCluster("c")],
    ],
    ["a VirtualHost may be named by itself", typed(V3.virtualHost, { name: "rc/b", domains: ["b"] }), "rc/b", []],
    [
      "a ClusterLoadAssignment refers to collections of endpoints",
      typed(V3.endpoints, {
        cluster_name: "c",
        endpoints: [
          {
            locality: { region: "r" },
            leds_cluster_locality_config: {
              leds_config: ADS,
              leds_collection_name: "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/c/*",
            },
          },
        ],
      }),
      "c",
      [[V3.lbEndpoint, "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/c/*"]],
    ],
    [
      "an LbEndpoint is named by its wrapper",
      typed(V3.wrapper, { name: "xdstp://a/t/c/e1", resource: typed(V3.lbEndpoint, {}) }),
      "xdstp://a/t/c/e1",
      [],
    ],
    ["a Secret", typed(V3.secret, { name: "s", generic_secret: { secret: { inline_string: "x" } } }), "s", []],
    ["a Runtime", typed(V3.runtime, { name: "rt", layer: { a: 1 } }), "rt", []],
    [
      "an extension config refers to what its filter calls",
      typed(V3.extension, {
        name: "x",
        typed_config: typed("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", grpc("authz")),
      }),
      "x",
      [toCluster("authz")],
    ],
    [
      "a Thrift RouteConfiguration",
      typed(V3.thriftRoute, { name: "t", routes: [{ match: { method_name: "" }, route: { cluster: "c" } }] }),
      "t",
      [toCluster("c")],
    ],
    [
      "a collection of clusters refers to what the clusters in it refer to",
      typed(V3.wrapper, {
        name: "xdstp://a/envoy.config.cluster.v3.ClusterCollection/c",
        resource: typed("envoy.config.cluster.v3.ClusterCollection", {
          entries: {
            inline_entry: {
              name: "one",
              resource: typed(V3.cluster, { name: "one", type: "EDS", eds_cluster_config: { eds_config: ADS } }),
            },
          },
        }),
      }),
      "xdstp://a/envoy.config.cluster.v3.ClusterCollection/c",
      [[V3.endpoints, "one"]],
    ],
    [
      "a type beside the catalog is named by its own name",
      typed("envoy.config.core.v3.TransportSocket", { name: "ts" }),
      "ts",
      [],
    ],
  ])("%s", (_, value, name, references) => {
    const { input, problems } = api.readResource(value);
    expect({
      name: input?.name,
      references: input?.references ?? [],
      errors: problems.filter(({ severity }) => severity === "error"),
    }).toEqual({
      name,
      references: references.map(([message, to]) => ({ type: url(message), name: to })),
      errors: [],
    });
    const again = api.readEncodedResource(input?.type as TypeUrl, input?.bytes ?? new Uint8Array(), { name });
    expect(again.input?.references ?? []).toEqual(input?.references ?? []);
  });
});
