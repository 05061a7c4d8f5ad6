import { createEnvoyApi } from "@xdskit/envoy-api";
import { anonymousNode } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { address, assigned, bootstrapOf, good, http2, server, told } from "../../test/support/bootstraps.ts";
import type { ClientConfig, ServerConfig } from "./client-config.ts";
import type { ConfigDefaults } from "./config-defaults.ts";
import { loadBootstrap } from "./load-bootstrap.ts";

const api = createEnvoyApi();

const serverOf = (cluster: object, adsConfig: object = {}): ServerConfig | undefined =>
  good(bootstrapOf({ ...http2, ...cluster }, adsConfig)).ads?.servers[0];

describe("servers", () => {
  test.each<[string, object, string]>([
    ["an address in a STATIC cluster", assigned(address("10.0.0.1")), "ipv4:10.0.0.1:80"],
    ["several", assigned(address("10.0.0.1"), address("10.0.0.2", 81)), "ipv4:10.0.0.1:80,10.0.0.2:81"],
    ["one of IPv6", assigned(address("::1", 443)), "ipv6:[::1]:443"],
    ["a pipe", assigned({ pipe: { path: "/run/xds.sock" } }), "unix:/run/xds.sock"],
    ["a name", { type: "STRICT_DNS", ...assigned(address("x.example")) }, "dns:///x.example:80"],
    ["a name, looked up once", { type: "LOGICAL_DNS", ...assigned(address("x.example")) }, "dns:///x.example:80"],
    [
      "the best priority",
      {
        load_assignment: {
          endpoints: [
            { priority: 1, lb_endpoints: [{ endpoint: { address: { pipe: { path: "/b" } } } }] },
            { lb_endpoints: [{ endpoint: { address: { pipe: { path: "/a" } } } }] },
          ],
        },
      },
      "unix:/a",
    ],
  ])("C-CFG-04 %s is a target", (_, cluster, target) => {
    const value = bootstrapOf({ ...http2, ...cluster });
    const { config } = loadBootstrap({ value }, { api });
    expect(config?.ads?.servers[0]?.target).toBe(target);
  });

  test.each<[string, object, string]>([
    ["one found over EDS", { type: "EDS" }, ".type: expected a STATIC, STRICT_DNS or LOGICAL_DNS cluster, got EDS"],
    ["a name in a STATIC one", assigned(address("x.example")), "expected an IP address in a STATIC cluster"],
    ["no address", {}, ".load_assignment: expected the address of a server"],
    ["a port by its name", assigned({ socket_address: { address: "1.1.1.1", named_port: "xds" } }), ".port_value: "],
    ["an abstract socket", assigned({ pipe: { path: "@xds" } }), "got the abstract one"],
    [
      "a transport socket that is not TLS",
      { ...assigned(address("1.1.1.1")), transport_socket: { name: "envoy.transport_sockets.alts" } },
      ".transport_socket: expected TLS",
    ],
  ])("C-CFG-04 a cluster cannot be a server with %s", (_, cluster, message) => {
    const problems = told(bootstrapOf({ ...http2, ...cluster }));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^error static_resources\.clusters\[0\]/);
    expect(problems[0]).toContain(message);
  });

  test("C-CFG-04 gRPC over a cluster of HTTP/1.1 is warned of", () => {
    const problems = told(bootstrapOf(assigned(address("1.1.1.1"))));
    expect(problems).toEqual([
      "warning static_resources.clusters[0]: expected a cluster that speaks HTTP/2, as gRPC wants it: Envoy would speak HTTP/1.1 with it",
    ]);
  });

  test("C-CFG-04 a cluster that nobody asks may be what it likes, and is no server", () => {
    const value = bootstrapOf({ ...http2, ...assigned(address("1.1.1.1")) });
    const other = { name: "other", type: "EDS" };
    const config = good({
      ...value,
      static_resources: { clusters: [{ name: "control_plane", ...http2, ...assigned(address("1.1.1.1")) }, other] },
    });
    expect([...config.servers.keys()]).toEqual(["control_plane"]);
  });

  test("C-CFG-04 TLS by files, by contents, and of v2", () => {
    const files = {
      tls_certificates: [{ certificate_chain: { filename: "/c.pem" }, private_key: { filename: "/k.pem" } }],
      validation_context: { trusted_ca: { filename: "/ca.pem" } },
    };
    const fromFiles = {
      ca: undefined,
      caPath: "/ca.pem",
      certificate: undefined,
      certificatePath: "/c.pem",
      key: undefined,
      keyPath: "/k.pem",
      serverName: "xds.example",
    };
    const where = assigned(address("10.0.0.1"));
    const typed = (type: string, context: object): object => ({
      ...where,
      transport_socket: {
        name: "envoy.transport_sockets.tls",
        typed_config: { "@type": `type.googleapis.com/${type}`, ...context },
      },
    });
    const v3 = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
    expect(serverOf(typed(v3, { sni: "xds.example", common_tls_context: files }))?.tls).toEqual(fromFiles);
    const old = { ...http2, ...where, tls_context: { sni: "xds.example", common_tls_context: files } };
    expect(good(bootstrapOf(old, { transport_api_version: "V2" })).ads?.servers[0]?.tls).toEqual(fromFiles);
    const named = {
      common_tls_context: {
        combined_validation_context: {
          default_validation_context: {
            trusted_ca: { inline_string: "PEM" },
            match_typed_subject_alt_names: [{ san_type: "DNS", matcher: { exact: "san.example" } }],
          },
          validation_context_sds_secret_config: { name: "" },
        },
      },
    };
    const {
      common_tls_context: { combined_validation_context: combined },
    } = named;
    const validated = { common_tls_context: { validation_context: combined.default_validation_context } };
    expect(serverOf(typed(v3, validated))?.tls).toEqual({
      ...fromFiles,
      ca: "PEM",
      caPath: undefined,
      certificatePath: undefined,
      keyPath: undefined,
      serverName: "san.example",
    });
  });

  test("C-CFG-04 TLS with secrets of the bootstrap; others would have to be asked for", () => {
    const context = (reference: object): object => ({
      ...http2,
      ...assigned(address("10.0.0.1")),
      transport_socket: {
        name: "tls",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
          common_tls_context: { validation_context_sds_secret_config: reference },
        },
      },
    });
    const secrets = [{ name: "ca", validation_context: { trusted_ca: { inline_bytes: "UEVN" } } }];
    const bootstrap = (reference: object): object => ({
      ...bootstrapOf({}),
      static_resources: { secrets, clusters: [{ name: "control_plane", ...context(reference) }] },
    });
    expect(good(bootstrap({ name: "ca" })).ads?.servers[0]?.tls?.ca).toEqual(new Uint8Array([80, 69, 77]));
    expect(told(bootstrap({ name: "ac" }))[0]).toContain(
      'expected a secret of static_resources for a management server, got "ac"',
    );
  });

  test("C-CFG-08 what a service says goes to its server: metadata, sizes, back-off, Google's library", () => {
    const where = assigned(address("10.0.0.1"));
    const own = {
      grpc_services: [
        {
          envoy_grpc: {
            cluster_name: "control_plane",
            max_receive_message_length: 1000,
            retry_policy: { retry_back_off: { base_interval: "0.1s" } },
          },
          initial_metadata: [{ key: "tenant", value: "blue" }],
        },
        {
          google_grpc: {
            target_uri: "dns:///google.example:443",
            stat_prefix: "x",
            channel_credentials: { ssl_credentials: { root_certs: { filename: "/ca.pem" } } },
            call_credentials: [{ access_token: "secret" }],
            channel_args: { args: { "grpc.keepalive_time_ms": { int_value: 10000 } } },
          },
        },
      ],
    };
    const source = good(bootstrapOf({ ...http2, ...where }, own)).ads;
    expect(source).toMatchObject({ failover: "fallback", backOff: { baseMs: 100, maxMs: 1000 } });
    expect(source?.servers).toEqual([
      { ...server, target: "ipv4:10.0.0.1:80", maxResponseBytes: 1000, headers: [["tenant", "blue"]] },
      {
        ...server,
        name: "dns:///google.example:443",
        target: "dns:///google.example:443",
        tls: expect.objectContaining({ caPath: "/ca.pem" }),
        keepalive: { intervalMs: 10_000, timeoutMs: 20_000 },
        headers: [["authorization", "Bearer secret"]],
        connectTimeoutMs: 20_000,
      },
    ]);
    expect(source?.id).not.toContain("secret");
  });
});

describe("the node", () => {
  const nodeOf = (node: object, defaults: ConfigDefaults = {}): ClientConfig =>
    good({ node, default_config_source: { path_config_source: { path: "/x" } } }, defaults);

  test("C-NOD-08 a plain node says all there is; what is left over stays in the bytes", () => {
    const all = {
      id: "edge",
      cluster: "front",
      locality: { region: "eu", zone: "eu-1", sub_zone: "a" },
      metadata: { stage: "canary", waits: { seconds: 5 } },
      dynamic_parameters: { "envoy.config.cluster.v3.Cluster": { params: { env: "prod" } } },
    };
    const node = {
      ...anonymousNode,
      id: "edge",
      cluster: "front",
      locality: { region: "eu", zone: "eu-1", subZone: "a" },
      metadata: { stage: "canary", waits: { seconds: 5 } },
      dynamicParameters: { "envoy.config.cluster.v3.Cluster": { env: "prod" } },
    };
    expect(nodeOf(all)).toMatchObject({ node, nodeBytes: undefined });
    const more = nodeOf({ ...all, extensions: [{ name: "x" }] });
    expect(more.node).toEqual(node);
    expect(
      api.toJson("type.googleapis.com/envoy.config.core.v3.Node", more.nodeBytes ?? new Uint8Array()),
    ).toMatchObject({ extensions: [{ name: "x" }] });
  });

  test("C-NOD-08 the client's name is added where the bootstrap has none", () => {
    const userAgent = { name: "xdskit", version: "1.0.0" };
    expect(nodeOf({}, { userAgent }).node).toEqual({
      ...anonymousNode,
      userAgentName: "xdskit",
      userAgentVersion: "1.0.0",
    });
    expect(nodeOf({ user_agent_name: "mine" }, { userAgent }).node).toEqual({
      ...anonymousNode,
      userAgentName: "mine",
    });
  });

  test("C-XTP-12 node_context_params: fields of the node, and its metadata one by one", () => {
    const value = {
      node: { id: "edge", locality: { zone: "eu-1" }, metadata: { foo: { bar: "baz" }, some: 42, thing: "thing" } },
      node_context_params: ["id", "locality.zone", "metadata", "user_agent_name"],
    };
    expect([...good(value).nodeContextParams]).toEqual([
      ["xds.node.id", "edge"],
      ["xds.node.locality.zone", "eu-1"],
      ["xds.node.metadata.foo", '{"bar":"baz"}'],
      ["xds.node.metadata.some", "42"],
      ["xds.node.metadata.thing", '"thing"'],
      ["xds.node.user_agent_name", ""],
    ]);
    expect(told({ node_context_params: ["identity"] })[0]).toContain("node_context_params[0]: expected one of id,");
  });
});

describe("collections and authorities", () => {
  const glob = "xdstp://east/envoy.config.listener.v3.Listener/edge/*";
  const file = (path: string): object => ({ path_config_source: { path } });
  const east = { ...file("/east"), authorities: [{ name: "east" }] };

  test("C-XTP-12 a locator stands for everything, from lds_config or from the source of its authority", () => {
    const located = { lds_resources_locator: glob };
    const named = good({ dynamic_resources: { ...located, lds_config: file("/lds") }, config_sources: [east] });
    expect(named.listeners).toMatchObject({ locator: glob, source: { path: "/lds" } });
    const found = good({ dynamic_resources: located, config_sources: [east], default_config_source: file("/any") });
    expect(found.listeners).toMatchObject({ locator: glob, source: { path: "/east" } });
    expect(found.defaultSource).toMatchObject({ path: "/any" });
    expect(found.authorities).toMatchObject([{ authorities: ["east"], source: { path: "/east" } }]);
  });

  test.each([
    ["a source", { lds_resources_locator: glob }, 'expected a source for the authority "east", got none'],
    [
      "the type of the root",
      { cds_resources_locator: glob },
      "expected the xdstp name of a collection of envoy.config.cluster",
    ],
    ["an xdstp name", { lds_resources_locator: "edge/*" }, "expected the xdstp name of a collection"],
  ])("C-XTP-12 a locator needs %s", (_, dynamic_resources, message) => {
    expect(
      told({ dynamic_resources, ...(message.startsWith("expected a source") ? {} : { config_sources: [east] }) })[0],
    ).toContain(message);
  });
});

describe("static resources", () => {
  const names = (config: ClientConfig): readonly string[] | undefined =>
    config.staticResources?.map(({ type, name }) => `${type.split("/")[1]} ${name}`);
  const listener = { address: address("127.0.0.1"), filter_chains: [{}] };

  test("C-CFG-02 are kept in the version of the bootstrap, Listeners without a name by their places", () => {
    const static_resources = {
      listeners: [{ name: "in", ...listener }, listener],
      clusters: [{ name: "c", type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED" }],
      secrets: [{ name: "key", generic_secret: { secret: { inline_string: "s" } } }],
    };
    const config = good({ static_resources });
    expect(names(config)).toEqual([
      "envoy.config.listener.v3.Listener in",
      "envoy.config.listener.v3.Listener static_resources.listeners[1]",
      "envoy.extensions.transport_sockets.tls.v3.Secret key",
      "envoy.config.cluster.v3.Cluster c",
    ]);
    const [first] = config.staticResources ?? [];
    expect(first && api.toJson(first.type, first.bytes)).toEqual({
      "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
      name: "in",
      address: { socketAddress: { address: "127.0.0.1", portValue: 80 } },
      filterChains: [{}],
    });
    expect(names(good({ static_resources: { listeners: listener } }, { autoVersion: "v2" }))).toEqual([
      "envoy.api.v2.Listener static_resources.listeners[0]",
    ]);
  });

  test("of two Listeners of one name the first is kept; mistakes in one keep nothing from being used", () => {
    const second = { name: "in", ...listener, stat_prefix: "second" };
    const twice = { static_resources: { listeners: [{ name: "in", ...listener }, second] } };
    expect(told(twice)).toEqual([
      'warning static_resources.listeners[1].name: expected another name: an Envoy passes over a second listener "in"',
    ]);
    const { config } = loadBootstrap({ value: twice }, { api });
    expect(config?.staticResources?.map(({ type, bytes }) => api.toJson(type, bytes))).toEqual([
      expect.not.objectContaining({ statPrefix: "second" }),
    ]);
    expect(told({ static_resources: { listeners: [{ name: "in", ...listener, adress: 1 }] } })).toEqual([
      expect.stringMatching(/^warning static_resources\.listeners\[0\]\.adress: /),
    ]);
  });
});
