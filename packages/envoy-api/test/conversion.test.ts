import { describe, expect, test } from "vitest";
import { api, encode, hex, lines, typed, url, V3 } from "./support/api.ts";

const V2 = {
  listener: "envoy.api.v2.Listener",
  cluster: "envoy.api.v2.Cluster",
  endpoints: "envoy.api.v2.ClusterLoadAssignment",
  http: "envoy.config.filter.network.http_connection_manager.v2.HttpConnectionManager",
  router: "envoy.config.filter.http.router.v2.Router",
  tls: "envoy.api.v2.auth.UpstreamTlsContext",
};
const TLS = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
const ADS = { ads: {}, resource_api_version: "V3" };

/** What becomes of a value in the other version: as JSON, and the findings as lines. */
function convert(value: Record<string, unknown>): { json: unknown; findings: readonly string[] } {
  const type = String(value["@type"]);
  const converted = api.convert(url(type.slice(type.lastIndexOf("/") + 1)), encode(value));
  if (converted?.bytes === undefined) throw new Error("not converted");
  return {
    json: api.toJson(converted.type, converted.bytes, { names: "proto" }),
    findings: lines(converted.findings),
  };
}

const cluster = {
  name: "c",
  type: "EDS",
  connect_timeout: "1s",
  eds_cluster_config: { eds_config: ADS },
  transport_socket: {
    name: "envoy.transport_sockets.tls",
    typed_config: typed(TLS, {
      sni: "c.example",
      common_tls_context: { tls_certificate_sds_secret_configs: [{ name: "s", sds_config: ADS }] },
    }),
  },
};

describe("S-TYP-10 from v3 to v2", () => {
  test("names are exchanged in every Any, and what is said of the version is left off", () => {
    expect(convert(typed(V3.cluster, cluster))).toEqual({
      json: typed(V2.cluster, {
        name: "c",
        type: "EDS",
        connect_timeout: "1s",
        eds_cluster_config: { eds_config: { ads: {} } },
        transport_socket: {
          name: "envoy.transport_sockets.tls",
          typed_config: typed(V2.tls, {
            sni: "c.example",
            common_tls_context: { tls_certificate_sds_secret_configs: [{ name: "s", sds_config: { ads: {} } }] },
          }),
        },
      }),
      findings: [],
    });
  });

  test("an Any in an Any is converted, and the findings say where in it they are", () => {
    const route = { rds: { route_config_name: "r", config_source: ADS } };
    const filters = (router: string): object[] => [
      { name: "envoy.cors", typed_config: typed("envoy.extensions.filters.http.cors.v3.Cors", {}) },
      { name: "oauth", typed_config: typed("envoy.extensions.filters.http.oauth2.v3.OAuth2", {}) },
      { name: "envoy.router", typed_config: typed(router, { start_child_span: true }) },
    ];
    const http = typed(V3.http, { stat_prefix: "s", ...route, http_filters: filters(V3.router) });
    const given = {
      name: "l",
      address: { pipe: { path: "/x" } },
      api_listener: { api_listener: typed(V3.http, { stat_prefix: "a" }) },
      filter_chains: [{ filters: [{ name: "http", typed_config: http }] }],
    };
    const { json, findings } = convert(typed(V3.listener, given));
    expect(json).toMatchObject({
      filter_chains: [
        {
          filters: [
            {
              typed_config: {
                "@type": url(V2.http),
                rds: { config_source: { ads: {} } },
                http_filters: [
                  { typed_config: { "@type": url("envoy.config.filter.http.cors.v2.Cors") } },
                  { typed_config: { "@type": url("envoy.extensions.filters.http.oauth2.v3.OAuth2") } },
                  { typed_config: { "@type": url(V2.router), start_child_span: true } },
                ],
              },
            },
          ],
        },
      ],
    });
    const inHttp = "filter_chains.0.filters.0.typed_config.http_filters";
    expect(findings).toEqual([
      `warning VERSION_LOSS ${inHttp}.0.typed_config: v2 has envoy.config.filter.http.cors.v2.Cors only since after 2019: clients of that time do not know it`,
      `warning VERSION_LOSS ${inHttp}.1.typed_config: v2 has no name for envoy.extensions.filters.http.oauth2.v3.OAuth2: it is passed on under this one`,
      "warning VERSION_LOSS api_listener: v2, as it was in 2019, has no field api_listener in envoy.api.v2.Listener: clients of that time pass over it",
    ]);
  });

  test("what v2 has no field for is kept under its number, with what stands in it converted (gRPC's api_listener)", () => {
    const given = typed(V3.listener, {
      name: "l",
      api_listener: { api_listener: typed(V3.http, { stat_prefix: "a" }) },
    });
    const converted = api.convert(url(V3.listener), encode(given));
    const http = Buffer.concat([
      Buffer.from([0x0a, url(V2.http).length]),
      Buffer.from(url(V2.http)),
      Buffer.from([0x12, 3, 0x12, 1, 0x61]),
    ]);
    const expected = Buffer.concat([Buffer.from([0x0a, 1, 0x6c, 0x9a, 1, http.length + 2, 0x0a, http.length]), http]);
    expect(hex(converted?.bytes ?? new Uint8Array())).toBe(hex(expected));
    expect(lines(converted?.findings ?? [])).toEqual([
      expect.stringContaining("has no field api_listener"),
      'warning VERSION_LOSS address: v2 demands "address" in envoy.api.v2.Listener, got none',
    ]);
  });

  test("a value that an enum of v2 does not have is told of, by its number", () => {
    expect(convert(typed(V3.cluster, { name: "c", dns_lookup_family: "ALL" })).findings).toEqual([
      "warning VERSION_LOSS dns_lookup_family: v2 does not have the value 4, which it is set to",
    ]);
  });

  test("bytes in which nothing changes are the same object", () => {
    const endpoints = encode(
      typed(V3.endpoints, {
        cluster_name: "c",
        endpoints: [
          {
            locality: { region: "r" },
            lb_endpoints: [
              { endpoint: { address: { socket_address: { address: "10.0.0.1", port_value: 80 } } }, metadata: {} },
            ],
          },
        ],
      }),
    );
    expect(api.convert(url(V3.endpoints), endpoints)).toEqual({
      type: url(V2.endpoints),
      bytes: endpoints,
      findings: [],
    });
    expect(api.convert(url(V3.endpoints), endpoints)?.bytes).toBe(endpoints);
  });

  test("unknown fields are kept, and of private messages nothing is said (B-MSC-09)", () => {
    const bytes = Uint8Array.of(0x0a, 1, 0x63, 0xba, 0x3e, 1, 0x41); // name, and field 999
    expect(api.convert(url(V3.cluster), bytes)?.bytes).toBe(bytes);
    const own = { name: "own", typed_config: typed("google.protobuf.StringValue", { value: "x" }) };
    expect(convert(typed(V3.cluster, { name: "c", transport_socket: own })).findings).toEqual([]);
  });
});

describe("S-TYP-10 from v2 to v3", () => {
  test("sources say V3, which a client of v3 has to be told", () => {
    expect(convert(typed(V2.cluster, { name: "c", eds_cluster_config: { eds_config: { ads: {} } } }))).toEqual({
      json: typed(V3.cluster, { name: "c", eds_cluster_config: { eds_config: ADS } }),
      findings: [],
    });
  });

  test("a context of TLS becomes a transport socket, in Clusters and in Listeners", () => {
    const secretOf = (sds_config: object): object => ({
      common_tls_context: { tls_certificate_sds_secret_configs: [{ name: "s", sds_config }] },
    });
    const socket = (context: string): object => ({
      name: "envoy.transport_sockets.tls",
      typed_config: typed(context, secretOf(ADS)),
    });
    expect(convert(typed(V2.cluster, { name: "c", tls_context: secretOf({ ads: {} }) }))).toEqual({
      json: typed(V3.cluster, { name: "c", transport_socket: socket(TLS) }),
      findings: [],
    });
    const match = { server_names: ["a"] };
    const chain = { filter_chain_match: match, tls_context: secretOf({ ads: {} }) };
    expect(convert(typed(V2.listener, { name: "l", filter_chains: [{}, chain] }))).toEqual({
      json: typed(V3.listener, {
        name: "l",
        filter_chains: [
          {},
          { filter_chain_match: match, transport_socket: socket(TLS.replace("Upstream", "Downstream")) },
        ],
      }),
      findings: [],
    });
  });

  test("hosts become endpoints", () => {
    const hosts = [1, 2].map((n) => ({ socket_address: { address: `10.0.0.${n}`, port_value: n } }));
    expect(convert(typed(V2.cluster, { name: "c", hosts, connect_timeout: "1s" }))).toEqual({
      json: typed(V3.cluster, {
        name: "c",
        connect_timeout: "1s",
        load_assignment: {
          cluster_name: "c",
          endpoints: [{ lb_endpoints: hosts.map((address) => ({ endpoint: { address } })) }],
        },
      }),
      findings: [],
    });
  });

  test("where the new field is given too, the old one is passed over, as clients of v2 do", () => {
    const socket = { name: "own", typed_config: typed("google.protobuf.StringValue", { value: "x" }) };
    const both = { name: "c", transport_socket: socket, load_assignment: { cluster_name: "x" } };
    const hosts = [{ pipe: { path: "/old" } }];
    expect(convert(typed(V2.cluster, { ...both, tls_context: { sni: "old" }, hosts }))).toEqual({
      json: typed(V3.cluster, both),
      findings: [],
    });
  });

  test("a field that occurs twice is merged", () => {
    const once = encode(typed(V2.cluster, { name: "c", tls_context: { sni: "x" } }));
    const twice = Buffer.concat([
      once,
      encode(typed(V2.cluster, { name: "c", tls_context: { allow_renegotiation: true } })),
    ]);
    const converted = api.convert(url(V2.cluster), twice);
    const context = typed(TLS, { sni: "x", allow_renegotiation: true });
    expect(api.toJson(url(V3.cluster), converted?.bytes ?? new Uint8Array(), { names: "proto" })).toEqual(
      typed(V3.cluster, {
        name: "c",
        transport_socket: { name: "envoy.transport_sockets.tls", typed_config: context },
      }),
    );
  });

  test("what v3 has given up without another place for it is told of, and kept", () => {
    const old = typed(V2.cluster, { name: "c", extension_protocol_options: { old: { a: 1 } } });
    const bytes = encode(old);
    const converted = api.convert(url(V2.cluster), bytes);
    expect(converted?.bytes).toBe(bytes);
    expect(lines(converted?.findings ?? [])).toEqual([
      "warning VERSION_LOSS extension_protocol_options: v3 has no field extension_protocol_options in envoy.config.cluster.v3.Cluster: clients pass over it",
    ]);
  });
});

describe("what is not converted", () => {
  test("a type without a twin", () => {
    expect(api.convert(url(V3.extension), new Uint8Array())).toBeUndefined();
    expect(api.convert(url("acme.v1.Widget"), new Uint8Array())).toBeUndefined();
  });

  test("bytes that are no message, with an error that says so", () => {
    const converted = api.convert(url(V3.cluster), Uint8Array.of(0x0a, 5, 0x61));
    expect([converted?.type, converted?.bytes, lines(converted?.findings ?? [])]).toEqual([
      url(V2.cluster),
      undefined,
      [
        "error MESSAGE_MALFORMED : expected the bytes of a envoy.config.cluster.v3.Cluster: expected 5 more bytes, got 1",
      ],
    ]);
  });

  test("an Any that cannot be read is passed on as it is, and the rest is converted", () => {
    const any = (name: string, value: string): Buffer => {
      const type = url(name);
      return Buffer.concat([Buffer.from([0x0a, type.length]), Buffer.from(type), Buffer.from(`1201${value}`, "hex")]);
    };
    const socket = (content: Buffer): Buffer =>
      Buffer.concat([Buffer.from([0x0a, 1, 0x63, 0xc2, 1, content.length + 2, 0x1a, content.length]), content]);
    const broken = socket(any(TLS, "ff"));
    const converted = api.convert(url(V3.cluster), broken);
    expect(converted?.bytes).toBe(broken);
    expect(lines(converted?.findings ?? [])).toEqual([
      `warning VERSION_LOSS transport_socket.typed_config: expected the bytes of a ${TLS}: the message ends within a field: they are passed on as they are, under that name`,
    ]);
  });
});
