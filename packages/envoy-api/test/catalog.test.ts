import { describe, expect, it } from "vitest";
import { api, encode, lines, typed, url, V3 } from "./support/api.ts";

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

  it("say that a client warms a Cluster with health checks until its hosts had the first one", () => {
    const check = { timeout: "1s", interval: "1s", unhealthy_threshold: 1, healthy_threshold: 1, tcp_health_check: {} };
    const { warmsOn } = api.traits(url(V3.cluster)) ?? {};
    const cluster = (more: object): Uint8Array => encode(typed(V3.cluster, { name: "c", type: "EDS", ...more }));
    expect(warmsOn?.(cluster({ health_checks: [check], lb_policy: "RANDOM" }))).toBe(true);
    expect(warmsOn?.(cluster({ lb_policy: "RANDOM", outlier_detection: {} }))).toBe(false);
    expect(warmsOn?.(Uint8Array.of(0xff))).toBe(false);
    expect(api.traits(url("envoy.api.v2.Cluster"))?.warmsOn).toBe(warmsOn);
    expect(api.traits(url(V3.endpoints))?.warmsOn).toBeUndefined();
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
