import { formatTypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { held, type MeshPlay, need, SCOPE } from "./support/mesh-play.ts";
import { c1, c2, clustering, e1, l1, l2, listening, r1 } from "./support/mesh-starts.ts";
import { CLUSTER, ENDPOINTS, EXTENSION, LB_ENDPOINT, LISTENER, ROUTE } from "./support/resources.ts";

describe("Clusters", () => {
  test("C-WRM-01 one with EDS is warming until its endpoints are there, another is ready at once", () => {
    const mesh = clustering().gets(c1, held(CLUSTER, "dns", "1"));
    expect(mesh.view).toEqual({ "cds c": "warming, 1 warms", "cds dns": "ready 1", "eds c": "requested" });
    mesh.gets(e1);
    expect(mesh.view).toEqual({ "cds c": "ready 1", "cds dns": "ready 1", "eds c": "ready 1" });
    expect(mesh.timers.size).toBe(0);
  });

  test("C-WRM-02 the old version serves while the new one warms", () => {
    const mesh = clustering().gets(c1, e1, c2);
    expect(mesh.view["cds c"]).toBe("ready 1, 2 warms");
    expect(mesh.gets(held(ENDPOINTS, "c", "2")).view["cds c"]).toBe("ready 2");
  });

  test("E15 C-WRM-04 endpoints that come again as they were end the warming of an update", () => {
    const mesh = clustering().gets(c1, e1, c2);
    expect(mesh.confirms(e1).view["cds c"]).toBe("ready 2");
    expect(mesh.node(CLUSTER, "c").links).toEqual([
      { type: ENDPOINTS, name: "c", watch: 2, node: mesh.node(ENDPOINTS, "c").id, state: "there" },
    ]);
    expect(mesh.timers.size).toBe(0);
  });

  test("E15 C-WRM-04 with a cache the endpoints of before are used when none came in time, without one none", () => {
    for (const [edsCache, state] of [
      ["on", "there"],
      ["off", "missing"],
    ] as const) {
      const mesh = clustering({ edsCache }).gets(c1, e1, c2).passes(14_999);
      expect(mesh.view["cds c"]).toBe("ready 1, 2 warms");
      expect(mesh.passes(1).view["cds c"]).toBe("ready 2");
      expect(mesh.node(CLUSTER, "c").links.map((link) => link.state)).toEqual([state]);
      expect(
        mesh
          .confirms(e1)
          .node(CLUSTER, "c")
          .links.map((link) => link.state),
      ).toEqual(["there"]);
    }
  });

  test("C-WRM-04 a client like those of gRPC uses the endpoints that it has at once", () => {
    expect(clustering({ edsCache: "at-once" }).gets(c1, e1, c2).view["cds c"]).toBe("ready 2");
  });

  test("C-WRM-04 endpoints that came before the Cluster on its own stream do not count for it", () => {
    const mesh = clustering().gets(c1, e1).confirms(e1).gets(c2);
    expect(mesh.view["cds c"]).toBe("ready 1, 2 warms");
    expect(mesh.confirms(e1).view["cds c"]).toBe("ready 2");
  });

  test("C-WRM-04 endpoints on a stream of their own may overtake their Cluster, so it uses those that it has", () => {
    const mesh = clustering({ isAggregated: () => false });
    expect(mesh.gets(c1).view["cds c"]).toBe("warming, 1 warms");
    expect(mesh.gets(e1).confirms(e1).gets(c2).view["cds c"]).toBe("ready 2");
    expect(mesh.timers.size).toBe(0);
  });

  test("C-WRM-04 a changed Cluster does not wait for endpoints from another source, which does not resend them", () => {
    const elsewhere = { source: { kind: "api", bytes: Buffer.from("other") } } as const;
    const [before, after] = ["1", "2"].map((version) => held(CLUSTER, "c", version, [need.endpoints("c", elsewhere)]));
    const mesh = clustering().gets(...[before, e1, after].filter((one) => one !== undefined));
    expect([mesh.view["cds c"], mesh.timers.size]).toEqual(["ready 2", 0]);
  });

  test("C-WRM-07 an update that overtakes another takes its place, and waits for its own time", () => {
    const mesh = clustering()
      .gets(c1, e1, c2)
      .passes(10_000)
      .gets(held(CLUSTER, "c", "3", [need.endpoints("c")]));
    expect(mesh.view["cds c"]).toBe("ready 1, 3 warms");
    expect(mesh.passes(14_999).view["cds c"]).toBe("ready 1, 3 warms");
    expect(mesh.passes(1).view["cds c"]).toBe("ready 3");
  });

  test("C-WRM-07 a Cluster that is removed while it warms is gone, and so is what it asked for", () => {
    const mesh = clustering().gets(c1).loses(CLUSTER, "c");
    expect([mesh.view, mesh.terms, mesh.timers.size]).toEqual([{}, ["cds *"], 0]);
    expect(mesh.said).toEqual(["watch cds *", "watch eds c", "stop eds c", "warming-ended"]);
  });

  test("C-WRM-14 two that share their endpoints have one watch, kept as long as one of them is there", () => {
    const twin = held(CLUSTER, "twin", "1", [need.endpoints("c")]);
    const mesh = clustering().gets(c1, e1, twin);
    expect(mesh.view).toEqual({ "cds c": "ready 1", "cds twin": "ready 1", "eds c": "ready 1" });
    expect(mesh.loses(CLUSTER, "c").terms).toEqual(["cds *", "eds c"]);
    expect(mesh.loses(CLUSTER, "twin").terms).toEqual(["cds *"]);
  });

  test("C-ACK-15 it is told when none warms any more, also if none had to", () => {
    const mesh = clustering().gets(c1, held(CLUSTER, "d", "1", [need.endpoints("d")]));
    expect(mesh.gets(e1).said.includes("warming-ended")).toBe(false);
    expect(mesh.machine.isWarming("ads")).toBe(true);
    expect(mesh.gets(held(ENDPOINTS, "d", "1")).said).toEqual(["warming-ended"]);
    expect(mesh.gets(held(CLUSTER, "dns", "1")).said).toEqual(["warming-ended"]);
    expect(mesh.machine.isWarming("ads")).toBe(false);
  });

  test("endpoints that do not exist end the warming, those that were refused do not", () => {
    const mesh = clustering().gets(c1).fails(ENDPOINTS, "c");
    expect(mesh.view["cds c"]).toBe("warming, 1 warms");
    expect(mesh.node(ENDPOINTS, "c").failure).toEqual({ why: "rejected", error: { code: 3, message: "no" } });
    expect(mesh.loses(ENDPOINTS, "c", { why: "does-not-exist" }).view).toEqual({
      "cds c": "ready 1",
      "eds c": "absent",
    });
    expect(mesh.node(CLUSTER, "c").links.map(({ state }) => state)).toEqual(["missing"]);
  });

  test("waits for its secret too", () => {
    const mesh = clustering().gets(held(CLUSTER, "c", "1", [need.endpoints("c"), need.secret("s")]), e1);
    expect(mesh.view["cds c"]).toBe("warming, 1 warms");
    expect(mesh.passes(15_000).view["cds c"]).toBe("ready 1");
  });

  test("B-LED-01 waits for the collections of its endpoints, which are watched as a whole", () => {
    const leds = "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/web/*";
    const mesh = clustering().gets(c1, held(ENDPOINTS, "c", "1", [need.lbEndpoints(leds)]));
    expect(mesh.view["cds c"]).toBe("warming, 1 warms");
    mesh.gets(held(LB_ENDPOINT, `${leds.slice(0, -1)}one`, "1"));
    expect(mesh.view["cds c"]).toBe("warming, 1 warms");
    expect(mesh.syncs(LB_ENDPOINT, leds).view["cds c"]).toBe("ready 1");
    const { watch } = mesh.node(ENDPOINTS, "c").links[0] ?? {};
    expect(mesh.node(LB_ENDPOINT, `${leds.slice(0, -1)}one`).watches).toEqual([watch]);
    expect(mesh.loses(CLUSTER, "c").terms).toEqual(["cds *"]);
  });
});

describe("Listeners", () => {
  test("C-WRM-01 one that fetches its routes is warming until they are there", () => {
    const mesh = listening().gets(l1);
    expect(mesh.view).toEqual({ "lds l": "warming, 1 warms", "rds r": "requested" });
    expect(mesh.gets(r1).view).toEqual({ "lds l": "ready 1", "rds r": "ready 1" });
  });

  test("C-WRM-05 an update uses routes that are held at once", () => {
    expect(listening().gets(l1, r1, l2).view["lds l"]).toBe("ready 2");
  });

  test("C-WRM-02 an update to other routes leaves the old ones in use until the new ones are there", () => {
    const mesh = listening().gets(l1, r1, held(LISTENER, "l", "2", [need.routes("q")]));
    expect(mesh.view).toEqual({ "lds l": "ready 1, 2 warms", "rds q": "requested", "rds r": "ready 1" });
    expect(mesh.node(LISTENER, "l").links.map(({ name }) => name)).toEqual(["r"]);
    expect(mesh.gets(held(ROUTE, "q", "1")).view).toEqual({ "lds l": "ready 2", "rds q": "ready 1" });
  });

  test("C-WRM-06 routes act at once, though their cluster is not there", () => {
    const mesh = listening().gets(l1, r1, held(ROUTE, "r", "2", [need.cluster("ghost")]));
    expect(mesh.view["rds r"]).toBe("ready 2");
    expect(mesh.node(ROUTE, "r").links).toEqual([
      { type: CLUSTER, name: "ghost", watch: undefined, node: undefined, state: "by-name" },
    ]);
  });

  test("C-DEL-03 E16 routes are let go with the last Listener that uses them", () => {
    const other = held(LISTENER, "m", "1", [need.routes("r")]);
    const mesh = listening().gets(l1, other, r1).loses(LISTENER, "l");
    expect(mesh.terms).toEqual(["lds *", "rds r"]);
    mesh.loses(LISTENER, "m");
    expect([mesh.terms, mesh.view]).toEqual([["lds *"], {}]);
  });

  test("E16 C-DEL-09 routes that are removed stay in use while they are referred to, or go, as is chosen", () => {
    expect(listening().gets(l1, r1).loses(ROUTE, "r").view["rds r"]).toBe("absent 1");
    const dropping = listening({ childRemoval: "drop" }).gets(l1, r1).loses(ROUTE, "r");
    expect(dropping.view["rds r"]).toBe("absent");
    expect(dropping.node(LISTENER, "l").links.map(({ state }) => state)).toEqual(["missing"]);
    expect(listening().gets(l1, r1).loses(ROUTE, "r", { why: "expired" }).view["rds r"]).toBe("absent");
  });

  test("C-DEL-10 what is held on to by the client is held on to here", () => {
    const mesh = listening().gets(l1, r1).loses(LISTENER, "l", { held: l1 });
    expect(mesh.view["lds l"]).toBe("absent 1");
    expect(mesh.terms).toEqual(["lds *", "rds r"]);
  });

  test("C-CFG-02 routes of one name from two sources are two", () => {
    const own = need.routes("r", { source: { kind: "api", bytes: Buffer.from("other") } });
    const mesh = listening().gets(held(LISTENER, "l", "1", [need.routes("r"), own]));
    expect(mesh.said).toEqual(["watch lds *", "watch rds r", "watch rds r @other"]);
    expect(mesh.nodes.size).toBe(3);
  });

  test("a source that cannot be used is told, and not waited for", () => {
    const none = need.routes("r", { source: { kind: "api", bytes: Buffer.from("") } });
    const mesh = listening().gets(held(LISTENER, "l", "1", [none]));
    expect(mesh.view).toEqual({ "lds l": "ready 1" });
    expect(mesh.node(LISTENER, "l").links.map(({ state }) => state)).toEqual(["unresolved"]);
  });

  test("routes of scopes come from where the Listener says, and it waits for them", () => {
    const mesh = listening().gets(held(LISTENER, "l", "1", [need.scopes()]));
    mesh.gets(held(SCOPE, "s", "1", [need.routesOfScope("r")]));
    mesh.syncs(SCOPE);
    expect(mesh.view).toEqual({ "lds l": "warming, 1 warms", "srds s": "ready 1", "rds r": "requested" });
    expect(mesh.passes(7_000).view["lds l"]).toBe("ready 1");
    expect(mesh.loses(LISTENER, "l").terms).toEqual(["lds *"]);
  });

  test("a scope that is gone is not waited for any more", () => {
    const mesh = listening().gets(held(LISTENER, "l", "1", [need.scopes()]));
    mesh.gets(held(SCOPE, "s", "1", [need.routesOfScope("r")])).syncs(SCOPE);
    expect(mesh.view["lds l"]).toBe("warming, 1 warms");
    expect(mesh.loses(SCOPE, "s").view).toEqual({ "lds l": "ready 1" });
  });

  test("an empty answer of scopes ends the warming", () => {
    const mesh = listening()
      .gets(held(LISTENER, "l", "1", [need.scopes()]))
      .syncs(SCOPE);
    expect([mesh.view, mesh.node(LISTENER, "l").links[0]?.state]).toEqual([{ "lds l": "ready 1" }, "there"]);
  });
});

describe("extension configs", () => {
  const JWT = formatTypeUrl("example.Jwt");
  const fallback = { type: JWT, bytes: new Uint8Array() };
  const state = (mesh: MeshPlay): unknown => mesh.node(LISTENER, "l").links[0]?.state;

  test("C-ECD-02 a Listener waits for them, unless a default may be used meanwhile", () => {
    const waiting = listening().gets(held(LISTENER, "l", "1", [need.extension("x", [])]));
    expect(waiting.view["lds l"]).toBe("warming, 1 warms");
    expect(waiting.gets(held(EXTENSION, "x", "1")).view["lds l"]).toBe("ready 1");
    const now = need.extension("x", [], { warms: false, extension: { fallback, types: [] } });
    const mesh = listening().gets(held(LISTENER, "l", "1", [now]));
    expect([mesh.view["lds l"], state(mesh)]).toEqual(["ready 1", "fallback"]);
  });

  test("C-ECD-03 after the time the default is used, or nothing, until a config comes", () => {
    const withDefault = need.extension("x", [], { extension: { fallback, types: [] } });
    const mesh = listening()
      .gets(held(LISTENER, "l", "1", [withDefault]))
      .passes(15_000);
    expect([mesh.view["lds l"], state(mesh)]).toEqual(["ready 1", "fallback"]);
    expect(state(mesh.gets(held(EXTENSION, "x", "1")))).toBe("there");
    expect(state(mesh.loses(EXTENSION, "x"))).toBe("fallback");
    const without = listening()
      .gets(held(LISTENER, "l", "1", [need.extension("x", [])]))
      .passes(15_000);
    expect([without.view["lds l"], state(without)]).toEqual(["ready 1", "missing"]);
  });

  test("C-ECD-04 one of a type that does not fit is refused, and not used", () => {
    const mesh = listening().gets(held(LISTENER, "l", "1", [need.extension("x", [JWT])]));
    const wrong = held(EXTENSION, "x", "example.Lua");
    expect(mesh.machine.problemWith(2, formatTypeUrl("example.Lua"))).toBe(
      `expected one of ${JWT}, got ${formatTypeUrl("example.Lua")}`,
    );
    expect(mesh.machine.problemWith(2, JWT)).toBeUndefined();
    expect(state(mesh.gets(wrong))).toBe("missing");
    expect(state(mesh.gets(held(EXTENSION, "x", "example.Jwt")))).toBe("there");
  });
});
