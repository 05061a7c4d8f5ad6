import {
  Cluster,
  type envoy,
  HttpConnectionManager,
  Listener,
  type MessageTypes,
  message,
  type ReadMessage,
  Router,
  TypedExtensionConfig,
  type TypedMessage,
} from "@xdskit/envoy-api/resources";
import { describe, expect, expectTypeOf, it } from "vitest";
import { api, url, V3 } from "./support/api.ts";

const problemsOf = (value: unknown): readonly unknown[] => api.readResource(value).problems.map(({ code }) => code);

describe("constructors of messages", () => {
  it("return plain data with its type", () => {
    expect(Cluster({ name: "hello", connectTimeout: "1s" })).toEqual({
      "@type": url(V3.cluster),
      name: "hello",
      connectTimeout: "1s",
    });
    expect(Cluster.typeUrl).toBe(url(V3.cluster));
  });

  it("take what readResource takes: enums, wrappers, 64-bit integers, bytes, maps, nested messages", () => {
    const cluster = Cluster({
      name: "web",
      type: "EDS",
      lbPolicy: 1,
      edsClusterConfig: { edsConfig: { ads: {}, resourceApiVersion: "V3" } },
      connectTimeout: "0.25s",
      perConnectionBufferLimitBytes: 1024,
      metadata: { filterMetadata: { acme: { owner: "edge", tags: [1, null] } } },
      transportSocketMatches: [{ name: "plain", match: { tls: false } }],
      ringHashLbConfig: { minimumRingSize: 16n, maximumRingSize: "1024" },
    });
    expect(api.readResource(cluster)).toMatchObject({ input: { name: "web" }, problems: [] });
  });

  it("take durations that are computed from a number", () => {
    const seconds: number = 5;
    const fields = { name: "a", type: "EDS", connectTimeout: `${seconds}s` } as const;
    expect(problemsOf(Cluster(fields))).toEqual(["CLUSTER_EDS_CONFIG_MISSING"]);
  });

  it("nest as Any, as does a literal with its type", () => {
    const manager = HttpConnectionManager({
      statPrefix: "ingress",
      rds: { routeConfigName: "routes", configSource: { ads: {} } },
      httpFilters: [
        { name: "cors", typedConfig: { "@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors" } },
        { name: "router", typedConfig: Router({ suppressEnvoyHeaders: true }) },
      ],
    });
    const address = { socketAddress: { address: "::1", portValue: 8080 } };
    const listener = Listener({
      name: "in",
      address,
      filterChains: [{ filters: [{ name: "http", typedConfig: manager }] }],
    });
    const { input, problems } = api.readResource(listener);
    expect([input?.name, input?.references, problems]).toEqual([
      "in",
      [{ type: url("envoy.config.route.v3.RouteConfiguration"), name: "routes" }],
      [],
    ]);
  });

  it("wrap the types that JSON has a form for in Any", () => {
    const extension = message("envoy.config.core.v3.TypedExtensionConfig", {
      name: "given",
      typedConfig: { "@type": "type.googleapis.com/google.protobuf.StringValue", value: "text" },
    });
    expect(api.readResource(extension)).toMatchObject({ input: { name: "given" }, problems: [] });
  });
});

describe("the types of messages", () => {
  it("refuse fields, values and types that do not exist", () => {
    expectTypeOf<MessageTypes["envoy.config.listener.v3.Listener"]["name"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf(Cluster({})).toEqualTypeOf<TypedMessage<"envoy.config.cluster.v3.Cluster">>();
    // @ts-expect-error: no such value
    const wrongValue = Cluster({ name: "a", type: "EDSS" });
    // @ts-expect-error: no such field
    const wrongField = Cluster({ name: "a", conectTimeout: "1s" });
    // @ts-expect-error: a duration is a string
    const wrongKind = Cluster({ name: "a", connectTimeout: 1 });
    // @ts-expect-error: a duration is in seconds
    const wrongUnit = Cluster({ name: "a", connectTimeout: "1m" });
    // @ts-expect-error: no such message
    const wrongMessage = message("envoy.config.cluster.v3.Clutser", { name: "a" });
    expect([wrongValue, wrongField, wrongKind, wrongUnit, wrongMessage].map(problemsOf)).toEqual([
      ["ENUM_UNKNOWN"],
      ["FIELD_UNKNOWN"],
      ["DURATION_INVALID"],
      ["DURATION_INVALID"],
      ["TYPE_UNKNOWN"],
    ]);
  });

  it("refuse two fields of one oneof, at any depth", () => {
    const one = Cluster({ name: "a", type: "EDS", edsClusterConfig: { edsConfig: { ads: {} } } });
    // @ts-expect-error: `type` or `clusterType`
    const two = Cluster({ name: "a", type: "EDS", clusterType: { name: "b" } });
    // @ts-expect-error: `ads` or `self`
    const nested = Cluster({ name: "a", type: "EDS", edsClusterConfig: { edsConfig: { ads: {}, self: {} } } });
    expect([one, two, nested].map(problemsOf)).toEqual([[], ["ONEOF_CONFLICT"], ["ONEOF_CONFLICT"]]);
  });

  it("say which oneof a second field is of", () => {
    type Source = MessageTypes["envoy.config.core.v3.ConfigSource"];
    expectTypeOf<
      Extract<Source["self"], string>
    >().toEqualTypeOf<"only one field of the oneof config_source_specifier may be set">();
    expectTypeOf<envoy.config.cluster.v3.Cluster["clusterType"]>().toExtend<
      object | "only one field of the oneof cluster_discovery_type may be set" | undefined
    >();
  });

  it("have no such text for readers, whose messages can be written again", () => {
    const read = (cluster: ReadMessage<"envoy.config.cluster.v3.Cluster">): readonly string[] | undefined =>
      cluster.edsClusterConfig?.edsConfig?.apiConfigSource?.clusterNames;
    const again = (cluster: ReadMessage<"envoy.config.cluster.v3.Cluster">): unknown => Cluster(cluster);
    expect([read, again].map((use) => use({ "@type": Cluster.typeUrl, name: "a" }))).toEqual([
      undefined,
      { "@type": Cluster.typeUrl, name: "a" },
    ]);
  });

  it("refuse the same in an Any", () => {
    const router = { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" } as const;
    const good = TypedExtensionConfig({ name: "a", typedConfig: router });
    // @ts-expect-error: no such field
    const wrongField = TypedExtensionConfig({ name: "a", typedConfig: { ...router, dynamicStat: true } });
    const misspelt = { "@type": "type.googleapis.com/envoy.Rout" } as const;
    // @ts-expect-error: no such type
    const wrongType = TypedExtensionConfig({ name: "a", typedConfig: misspelt });
    expect([good, wrongField, wrongType].map(problemsOf)).toEqual([[], ["FIELD_UNKNOWN"], ["TYPE_UNKNOWN"]]);
  });
});
