import type { TypeUrl } from "@xdskit/protocol";
import { describe, expect, it } from "vitest";
import { api, encode, lines, typed, url, V3 } from "./support/api.ts";

const ADS = { ads: {}, resource_api_version: "V3" };
const FILE = { path_config_source: { path: "/etc/envoy/x.yaml" } };

describe("the types of requirements 1.3 (B-TYP-01)", () => {
  it("are all known, by the names of their APIs and of their v2 twins", () => {
    expect(api.types.map(({ type, shortName, v2Twin }) => [shortName, type.slice(20), v2Twin?.slice(20)])).toEqual([
      ["lds", "envoy.config.listener.v3.Listener", "envoy.api.v2.Listener"],
      ["rds", "envoy.config.route.v3.RouteConfiguration", "envoy.api.v2.RouteConfiguration"],
      ["srds", "envoy.config.route.v3.ScopedRouteConfiguration", "envoy.api.v2.ScopedRouteConfiguration"],
      ["vhds", "envoy.config.route.v3.VirtualHost", "envoy.api.v2.route.VirtualHost"],
      ["cds", "envoy.config.cluster.v3.Cluster", "envoy.api.v2.Cluster"],
      ["eds", "envoy.config.endpoint.v3.ClusterLoadAssignment", "envoy.api.v2.ClusterLoadAssignment"],
      ["sds", "envoy.extensions.transport_sockets.tls.v3.Secret", "envoy.api.v2.auth.Secret"],
      ["rtds", "envoy.service.runtime.v3.Runtime", "envoy.service.discovery.v2.Runtime"],
      ["ecds", "envoy.config.core.v3.TypedExtensionConfig", undefined],
      ["leds", "envoy.config.endpoint.v3.LbEndpoint", undefined],
      ["trds", "envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration", undefined],
      ["", "envoy.config.listener.v3.ListenerCollection", undefined],
      ["", "envoy.config.cluster.v3.ClusterCollection", undefined],
      ["", "envoy.config.endpoint.v3.LbEndpointCollection", undefined],
    ]);
  });

  it("have descriptors in v3, but for one that the built-in ones lack, and in v2", () => {
    expect(api.types.filter(({ type }) => !api.knows(type)).map(({ type }) => type)).toEqual([
      "type.googleapis.com/envoy.config.endpoint.v3.LbEndpointCollection",
    ]);
    expect(api.types.filter(({ v2Twin }) => v2Twin !== undefined && !api.knows(v2Twin))).toEqual([]);
  });

  it("are full state if and only if they are Listeners, Clusters and scopes, in v2 as in v3 (S-RES-03)", () => {
    const full = api.types.flatMap(({ type, v2Twin }) => (v2Twin === undefined ? [type] : [type, v2Twin]));
    expect(full.filter((type) => api.traits(type)?.isFullState).map((type) => type.slice(20))).toEqual([
      "envoy.config.listener.v3.Listener",
      "envoy.api.v2.Listener",
      "envoy.config.route.v3.ScopedRouteConfiguration",
      "envoy.api.v2.ScopedRouteConfiguration",
      "envoy.config.cluster.v3.Cluster",
      "envoy.api.v2.Cluster",
    ]);
  });

  it("say that a Cluster owes its ClusterLoadAssignment, each version of it its own (S-WRM-08)", () => {
    expect([api.traits(url(V3.cluster))?.owes, api.traits(url("envoy.api.v2.Cluster"))?.owes]).toEqual([
      [url(V3.endpoints)],
      [url("envoy.api.v2.ClusterLoadAssignment")],
    ]);
  });

  it("have a ClusterLoadAssignment without endpoints to stand in for one that is missing, and nothing for the others", () => {
    const all = api.types.flatMap(({ type, v2Twin }) => (v2Twin === undefined ? [type] : [type, v2Twin]));
    expect(all.filter((type) => api.traits(type)?.placeholder !== undefined)).toEqual([
      url(V3.endpoints),
      url("envoy.api.v2.ClusterLoadAssignment"),
    ]);
    const bytes = api.traits(url(V3.endpoints))?.placeholder?.("größe") ?? new Uint8Array();
    expect(api.toJson(url(V3.endpoints), bytes)).toEqual(typed(V3.endpoints, { clusterName: "größe" }));
  });

  it.each<[string, string | undefined]>([
    ["cds", V3.cluster],
    ["CDS", V3.cluster],
    ["Cluster", V3.cluster],
    ["routeconfiguration", V3.route],
    [V3.secret, V3.secret],
    [`type.googleapis.com/${V3.secret}`, V3.secret],
    ["envoy.api.v2.Cluster", "envoy.api.v2.Cluster"],
    [V3.router, V3.router],
    ["type.googleapis.com/acme.v1.Widget", "acme.v1.Widget"],
    ["acme.v1.Widget", undefined],
    ["clusters", undefined],
    ["", undefined],
  ])("%s is %s", (text, name) => {
    expect(api.typeNamed(text)).toBe(name && url(name));
  });
});

describe("a resource of v2", () => {
  it("has the name and the references that it would have in v3, to types of v2, and enters as it is", () => {
    const source = { eds_config: { ads: {} }, service_name: "svc" };
    const cluster = typed("envoy.api.v2.Cluster", { name: "c", type: "EDS", eds_cluster_config: source });
    const { input, problems } = api.readResource(cluster);
    expect([input?.type, input?.name, input?.references, problems]).toEqual([
      url("envoy.api.v2.Cluster"),
      "c",
      [{ type: url("envoy.api.v2.ClusterLoadAssignment"), name: "svc" }],
      [],
    ]);
    expect(api.toJson(url("envoy.api.v2.Cluster"), input?.bytes ?? new Uint8Array(), { names: "proto" })).toEqual(
      cluster,
    );
  });

  it("may have any name that its twin may have", () => {
    const host = typed("envoy.api.v2.route.VirtualHost", { name: "rc/a", domains: ["a", "b"] });
    expect(api.readResource(host).input).toMatchObject({ name: "rc/a", aliases: ["rc/b"] });
    const endpoints = typed("envoy.api.v2.ClusterLoadAssignment", { cluster_name: "c" });
    expect(api.readResource(endpoints).input?.name).toBe("c");
    expect(lines(api.readResource(typed("envoy.api.v2.Listener", {})).problems)).toEqual([
      "error RESOURCE_UNNAMED : expected a name, got none",
    ]);
  });

  it("shows no secret: what is marked in v3 is hidden in v2, and so is what nobody can read", () => {
    const certificate = { private_key: { inline_string: "KEY" }, certificate_chain: { filename: "/c.pem" } };
    const type = url("envoy.api.v2.Cluster");
    const bytes = encode(
      typed("envoy.api.v2.Cluster", {
        name: "c",
        tls_context: { common_tls_context: { tls_certificates: [certificate] } },
        transport_socket: { name: "tls", config: { key: "KEY" } },
      }),
    );
    expect(api.holdsSecret(type, bytes)).toBe(true);
    expect(JSON.stringify(api.toJson(type, bytes, { redact: true }))).not.toContain("KEY");
    expect(JSON.stringify(api.toJson(type, bytes))).toContain("KEY");
    const secret = encode(typed("envoy.api.v2.auth.Secret", { name: "s", tls_certificate: certificate }));
    expect(JSON.stringify(api.toJson(url("envoy.api.v2.auth.Secret"), secret, { redact: true }))).not.toContain("KEY");
  });
});

describe("names and references of each type", () => {
  const filter = (message: string, fields: object): object => ({ name: "f", typed_config: typed(message, fields) });
  const http = (fields: object): object => filter(V3.http, { stat_prefix: "s", ...fields });
  const toCluster = (name: string): readonly [string, string] => [V3.cluster, name];
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

describe("what real clients refuse is a warning (K4)", () => {
  const endpoint = (address: string, port = 80): object => ({
    endpoint: { address: { socket_address: { address, port_value: port } } },
  });

  it.each<[string, object, readonly string[]]>([
    [
      V3.cluster,
      { name: "c", type: "EDS" },
      ["warning CLUSTER_EDS_CONFIG_MISSING : expected eds_cluster_config.eds_config for type EDS, got none"],
    ],
    [
      V3.cluster,
      {
        name: "xdstp://a/b/c",
        type: "EDS",
        eds_cluster_config: { eds_config: ADS },
        load_assignment: { cluster_name: "c" },
      },
      [
        "warning CLUSTER_SERVICE_NAME_MISSING : expected eds_cluster_config.service_name for a name that begins with xdstp: gRPC rejects it without",
        "warning CLUSTER_ENDPOINTS_UNUSED load_assignment: expected no load_assignment for type EDS: its endpoints come from EDS",
      ],
    ],
    [
      V3.cluster,
      { name: "c", edsClusterConfig: { edsConfig: ADS } },
      [
        "warning CLUSTER_EDS_CONFIG_UNUSED edsClusterConfig: expected type EDS beside eds_cluster_config: Envoy rejects it with another",
        "warning CLUSTER_ENDPOINTS_MISSING : expected load_assignment, got none: the cluster has no endpoint to send to",
      ],
    ],
    [
      V3.cluster,
      {
        name: "c",
        type: "LOGICAL_DNS",
        load_assignment: { cluster_name: "c", endpoints: [{ lb_endpoints: [endpoint("a"), endpoint("b")] }] },
      },
      ["warning CLUSTER_LOGICAL_DNS_ENDPOINTS load_assignment: expected one endpoint for LOGICAL_DNS, got 2"],
    ],
    [
      V3.cluster,
      { name: "c", type: "ORIGINAL_DST" },
      [
        "warning CLUSTER_LB_POLICY_MISMATCH lb_policy: expected lb_policy CLUSTER_PROVIDED for type ORIGINAL_DST: Envoy rejects another",
      ],
    ],
    [
      V3.endpoints,
      {
        cluster_name: "c",
        endpoints: [
          { locality: { region: "r" }, lb_endpoints: [endpoint("10.0.0.1"), endpoint("10.0.0.1"), endpoint("host")] },
          { locality: { region: "r" }, lb_endpoints: [{ endpoint: {} }] },
          { priority: 2, load_balancing_weight: 1 },
        ],
      },
      [
        "warning ENDPOINT_ADDRESS_DUPLICATE endpoints.0.lb_endpoints.1.endpoint.address: expected each address once, got 10.0.0.1:80 again",
        'warning ENDPOINT_ADDRESS_NOT_IP endpoints.0.lb_endpoints.2.endpoint.address.socket_address.address: expected an IP address, got "host"',
        'warning ENDPOINT_LOCALITY_DUPLICATE endpoints.1.locality: expected each locality once per priority, got ["r","",""] in endpoints[0] too: gRPC clients reject it',
        "warning ENDPOINT_ADDRESS_MISSING endpoints.1.lb_endpoints.0.endpoint: expected an address, got none",
        "warning ENDPOINT_LOCALITY_MISSING endpoints.2: expected a locality beside load_balancing_weight: gRPC clients reject it without",
        "warning ENDPOINT_PRIORITY_GAP endpoints: expected priorities from 0 without gaps, got 2 but not 1: gRPC clients reject it",
      ],
    ],
    [
      V3.listener,
      { name: "l" },
      [
        "warning LISTENER_ADDRESS_MISSING : expected an address, an internal_listener or an api_listener, got none: Envoy rejects it",
        "warning LISTENER_FILTER_CHAINS_MISSING : expected filter_chains or a default_filter_chain, got none: Envoy rejects it",
      ],
    ],
    [
      V3.listener,
      {
        name: "l",
        internal_listener: {},
        filter_chains: [
          { filter_chain_match: { server_names: ["a"] } },
          { filter_chain_match: { server_names: ["a"] } },
        ],
      },
      [
        "warning LISTENER_FILTER_CHAIN_DUPLICATE filter_chains.1: expected each filter_chain_match once, got that of filter_chains[0]: Envoy rejects it",
      ],
    ],
    [
      V3.listener,
      { name: "l", api_listener: { api_listener: typed(V3.router, {}) } },
      [
        "warning LISTENER_API_LISTENER_INVALID api_listener: expected an HttpConnectionManager in api_listener: clients reject anything else",
      ],
    ],
    [
      V3.listener,
      {
        name: "l",
        apiListener: {
          apiListener: typed(V3.http, { routeConfig: { virtualHosts: [{ name: "v", domains: ["a", "A"] }] } }),
        },
      },
      [
        'warning ROUTE_DOMAIN_DUPLICATE apiListener.apiListener.routeConfig.virtualHosts.0.domains.1: expected each domain once, got "A", which the same virtual host has: clients reject it',
      ],
    ],
    [
      V3.route,
      {
        name: "r",
        virtual_hosts: [
          {
            name: "v",
            domains: ["*"],
            routes: [
              { match: { prefix: "/" }, route: { weighted_clusters: { clusters: [{ name: "c", weight: 0 }] } } },
            ],
          },
          { name: "v", domains: ["*"] },
        ],
      },
      [
        "warning ROUTE_WEIGHTS_ZERO virtual_hosts.0.routes.0.route.weighted_clusters: expected weights that add up to more than 0: clients reject it",
        'warning ROUTE_VIRTUAL_HOST_DUPLICATE virtual_hosts.1.name: expected each virtual host once, got "v" again: Envoy rejects it',
        'warning ROUTE_DOMAIN_DUPLICATE virtual_hosts.1.domains.0: expected each domain once, got "*", which the same virtual host has: clients reject it',
      ],
    ],
    [
      V3.scope,
      { name: "s" },
      [
        "warning ROUTE_SCOPE_TARGET_INVALID : expected either route_configuration_name or route_configuration, got none: Envoy rejects it",
      ],
    ],
    [
      V3.wrapper,
      { name: "rc/a", resource: typed(V3.virtualHost, { name: "a", domains: ["a"] }) },
      [
        'warning ROUTE_VIRTUAL_HOST_NAME_DIFFERS resource.name: expected the name "rc/a", which it is sent under, got "a": Envoy can never remove it',
      ],
    ],
    [
      V3.wrapper,
      { name: "a3", resource: typed(V3.virtualHost, { name: "a3", domains: ["a"] }) },
      [
        'warning ROUTE_VIRTUAL_HOST_UNPREFIXED resource: expected a name that begins with that of its route configuration and "/", got "a3": Envoy ignores it',
      ],
    ],
    [
      V3.secret,
      { name: "s" },
      [
        "warning SECRET_EMPTY : expected one of tls_certificate, validation_context, session_ticket_keys, generic_secret, got none",
      ],
    ],
    [
      V3.secret,
      { name: "s", tls_certificate: { private_key: { inline_string: "k" } } },
      [
        "warning SECRET_CERTIFICATE_INCOMPLETE tls_certificate: expected certificate_chain and private_key, or pkcs12: Envoy rejects less",
      ],
    ],
    [
      V3.wrapper,
      { name: "other", resource: typed(V3.runtime, { name: "own" }) },
      ['warning NAME_MISMATCH : expected one name, got "other" around the resource and "own" in it'],
    ],
  ])("%s %j", (message, fields, expected) => {
    const { input, problems } = api.readResource(typed(message, fields));
    expect(lines(problems)).toEqual(expected);
    expect(input).toBeDefined();
  });
});

describe("the wrapper", () => {
  it("gives name, aliases, ttl, cache control and metadata, and not the version", () => {
    const value = typed(V3.wrapper, {
      name: "rt",
      version: "17",
      aliases: ["b", "a"],
      ttl: "1.5s",
      cache_control: { do_not_cache: true },
      metadata: { filter_metadata: { b: { y: 1, x: 2 }, a: {} } },
      resource: typed(V3.runtime, { name: "rt" }),
    });
    const { input, problems } = api.readResource(value);
    expect(problems).toEqual([]);
    const { metadata = new Uint8Array(), ...rest } = input ?? {};
    expect(rest).toEqual({
      type: url(V3.runtime),
      name: "rt",
      bytes: Uint8Array.of(0x0a, 2, 0x72, 0x74),
      aliases: ["b", "a"],
      ttlMs: 1500,
      doNotCache: true,
    });
    expect(api.toJson(url("envoy.config.core.v3.Metadata"), metadata)).toEqual({
      "@type": url("envoy.config.core.v3.Metadata"),
      filterMetadata: { a: {}, b: { x: 2, y: 1 } },
    });
  });

  it("is read from its bytes too, and what an argument says besides is kept", () => {
    const json = typed(V3.wrapper, { name: "rt", resource: typed(V3.runtime, { name: "rt" }) });
    const inner = api.readResource(json);
    const any = { "@type": url(V3.extension), name: "carrier", typed_config: json };
    const carrier = api.readResource(any).input?.bytes ?? new Uint8Array();
    // The bytes of the wrapper are at the end of its carrier, behind the type URL of the Any.
    const start = Buffer.from(carrier).indexOf(V3.wrapper) + V3.wrapper.length + 2;
    const read = api.readEncodedResource(url(V3.wrapper), carrier.subarray(start), { aliases: ["x"], ttlMs: 5_000 });
    expect(read).toEqual({ input: { ...inner.input, aliases: ["x"], ttlMs: 5_000 }, problems: [] });
  });
});

describe("types that nobody described (S-GEN-04)", () => {
  const type = url("acme.v1.Widget");

  it("enter with a name and their bytes as they are", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    expect(api.readEncodedResource(type, bytes, { name: "w" })).toEqual({
      input: { type, name: "w", bytes },
      problems: [],
    });
    expect(lines(api.readEncodedResource(type, bytes).problems)).toEqual([
      "error RESOURCE_UNNAMED : expected a name, got none",
    ]);
  });

  it("enter as base64 with a warning, at the top and inside others, and come out the same", () => {
    const widget = { "@type": type, value: "AQID" };
    const top = api.readResource(widget, { name: "w" });
    const inside = api.readResource(typed(V3.extension, { name: "x", typed_config: widget }));
    expect([top.input?.bytes, api.toJson(type, Uint8Array.of(1, 2, 3))]).toEqual([Uint8Array.of(1, 2, 3), widget]);
    expect(api.toJson(url(V3.extension), inside.input?.bytes ?? new Uint8Array())).toEqual(
      typed(V3.extension, { name: "x", typedConfig: widget }),
    );
    expect([lines(top.problems), lines(inside.problems)]).toEqual([
      [`warning ANY_UNREAD : nothing is known of ${type}: its bytes are passed on as they are`],
      [`warning ANY_UNREAD typed_config: nothing is known of ${type}: its bytes are passed on as they are`],
    ]);
  });

  it("keep fields that are newer than the descriptors (B-MSC-09)", () => {
    const bytes = Uint8Array.of(0x0a, 1, 0x72, 0xba, 0x3e, 1, 0x41); // name, and field 999
    const { input } = api.readEncodedResource(url(V3.runtime), bytes);
    expect(input).toEqual({ type: url(V3.runtime), name: "r", bytes });
  });
});
