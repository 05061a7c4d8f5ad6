import { formatTypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { held, MeshPlay, need, ROOT, SCOPE } from "./support/mesh-play.ts";
import { CLUSTER, ENDPOINTS, EXTENSION, HOST, LB_ENDPOINT, LISTENER, ROUTE } from "./support/resources.ts";

const proxy = (options = {}): MeshPlay => new MeshPlay(options).start(ROOT.clusters, ROOT.listeners);
const named = (options = {}): MeshPlay =>
  new MeshPlay({ followsClusters: true, edsCache: "at-once", ...options }).start({
    ...{ root: 1, source: "ads", type: LISTENER, term: "l", timeoutMs: 15_000 },
  });
const listening = (options = {}): MeshPlay => new MeshPlay(options).start({ ...ROOT.listeners, timeoutMs: 0 });
const clustering = (options = {}): MeshPlay => new MeshPlay(options).start({ ...ROOT.clusters, timeoutMs: 0 });

const c1 = held(CLUSTER, "c", "1", [need.endpoints("c")]);
const c2 = held(CLUSTER, "c", "2", [need.endpoints("c")]);
const e1 = held(ENDPOINTS, "c", "1");
const l1 = held(LISTENER, "l", "1", [need.routes("r")]);
const l2 = held(LISTENER, "l", "2", [need.routes("r")]);
const r1 = held(ROUTE, "r", "1", [need.cluster("c")]);

describe("what is asked for, and when", () => {
  test("C-SUB-21 C-WRM-13 a proxy asks for Clusters, waits until they are warm, then asks for Listeners", () => {
    const mesh = proxy();
    expect(mesh.said).toEqual(["watch cds *"]);
    mesh.gets(c1).syncs(CLUSTER);
    expect(mesh.said).toEqual(["watch eds c"]);
    mesh.gets(e1);
    expect(mesh.said).toEqual(["watch lds *", "warming-ended"]);
    mesh.gets(l1).syncs(LISTENER);
    expect(mesh.said).toEqual(["watch rds r"]);
    mesh.gets(r1);
    expect(mesh.said).toEqual(["started"]);
  });

  test("C-SUB-21 with a named root each step names the next, and clusters are asked for one by one", () => {
    const mesh = named();
    mesh.gets(l1).gets(r1).gets(c1).gets(e1);
    expect(mesh.said).toEqual(["watch lds l", "watch rds r", "watch cds c", "started", "watch eds c", "warming-ended"]);
    expect(mesh.view).toEqual({ "lds l": "ready 1", "rds r": "ready 1", "cds c": "ready 1", "eds c": "ready 1" });
    expect(mesh.isComplete).toBe(true);
  });

  test("C-WRM-03 the start goes on after the time for a first answer, and not before", () => {
    const mesh = proxy().passes(14_999);
    expect(mesh.said).toEqual(["watch cds *"]);
    mesh.passes(1);
    expect(mesh.said).toEqual(["watch lds *"]);
    mesh.passes(15_000);
    expect(mesh.said).toEqual(["started"]);
  });

  test("C-WRM-03 with a time of 0 it is waited for ever", () => {
    const mesh = clustering()
      .gets(held(CLUSTER, "c", "1", [need.endpoints("c", { timeoutMs: 0 })]))
      .syncs(CLUSTER);
    expect(mesh.passes(1e9).view).toEqual({ "cds c": "warming, 1 warms", "eds c": "requested" });
    expect(mesh.isComplete).toBe(false);
  });

  test("the start waits for what came first, not for what came later", () => {
    const other = held(CLUSTER, "d", "1", [need.endpoints("d")]);
    const mesh = proxy().gets(c1).syncs(CLUSTER).gets(other).gets(e1);
    expect(mesh.said.filter((line) => line.includes("lds"))).toEqual(["watch lds *"]);
    expect(mesh.view["cds d"]).toBe("warming, 1 warms");
  });
});

test("C-WRM-02 C-WRM-13 the start does not wait for the update of a Cluster that serves", () => {
  const mesh = proxy().gets(c1, e1, c2).syncs(CLUSTER);
  expect([mesh.view["cds c"], mesh.said.includes("watch lds *")]).toEqual(["ready 1, 2 warms", true]);
});

describe("what is reported", () => {
  test("how long each thing took from being asked for to its first answer, once, be it there or not", () => {
    const mesh = clustering()
      .passes(5)
      .gets(c1)
      .passes(2)
      .syncs(CLUSTER)
      .passes(40)
      .gets(e1)
      .gets(c2)
      .passes(9)
      .gets(e1);
    mesh
      .gets(held(CLUSTER, "d", "1", [need.endpoints("d")]))
      .passes(3)
      .loses(ENDPOINTS, "d");
    const told = mesh.reports.flatMap((report) =>
      report.kind === "answered" ? [[report.type, report.term, report.afterMs, report.source]] : [],
    );
    expect(told).toEqual([
      [CLUSTER, "*", 7, "ads"],
      [ENDPOINTS, "c", 42, "ads"],
      [ENDPOINTS, "d", 3, "ads"],
    ]);
  });
});

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

  test("C-WRM-04 endpoints that come again as they were end the warming of an update", () => {
    const mesh = clustering().gets(c1, e1, c2);
    expect(mesh.confirms(e1).view["cds c"]).toBe("ready 2");
    expect(mesh.node(CLUSTER, "c").links).toEqual([
      { type: ENDPOINTS, name: "c", watch: 2, node: mesh.node(ENDPOINTS, "c").id, state: "there" },
    ]);
    expect(mesh.timers.size).toBe(0);
  });

  test("C-WRM-04 with a cache the endpoints of before are used when none came in time, without one none", () => {
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

  test("C-DEL-09 routes that are removed stay in use while they are referred to, or go, as is chosen", () => {
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

describe("on demand", () => {
  const cluster = (name: string): object => ({ kind: "cluster", source: "ads", type: CLUSTER, name });
  const demanding = (mesh: MeshPlay, demand: number, what: object): MeshPlay =>
    mesh.on({ kind: "demanded", demand, what, timeoutMs: 5_000 } as Parameters<MeshPlay["on"]>[0]);
  const quiet = (mesh: MeshPlay): MeshPlay => {
    expect(mesh.said.length).toBeGreaterThan(0);
    return mesh;
  };

  test("C-ODC-01 a request for a cluster that nothing told of goes on when that is warm", () => {
    const mesh = demanding(quiet(clustering().syncs(CLUSTER)), 1, cluster("c"));
    expect(mesh.said).toEqual(["watch cds c"]);
    expect(mesh.gets(c1).said).toEqual(["watch eds c"]);
    expect(mesh.gets(e1).said).toEqual(["demand 1 found", "warming-ended"]);
    expect(demanding(mesh, 2, cluster("c")).said).toEqual(["demand 2 found"]);
    expect(mesh.timers.size).toBe(0);
  });

  test("C-ODC-01 it goes on when there is none, which is asked for no more", () => {
    const mesh = demanding(quiet(clustering().syncs(CLUSTER)), 1, cluster("ghost"));
    expect(mesh.loses(CLUSTER, "ghost").said).toEqual(["watch cds ghost", "demand 1 absent", "stop cds ghost"]);
    expect([mesh.view, mesh.timers.size]).toEqual([{}, 0]);
  });

  test("C-ODC-01 what is known not to be there is not held on to by whoever asks for it", () => {
    const mesh = quiet(named().gets(l1, r1).loses(CLUSTER, "c", { why: "does-not-exist" }));
    demanding(mesh, 1, cluster("c"));
    expect(mesh.said).toEqual(["demand 1 absent"]);
    expect(mesh.gets(held(ROUTE, "r", "2")).terms).toEqual(["lds l", "rds r"]);
  });

  test("C-ODC-01 it goes on after 5 s, and what comes later is taken", () => {
    const mesh = demanding(quiet(clustering().syncs(CLUSTER)), 1, cluster("c"));
    expect(mesh.passes(5_000).said).toEqual(["watch cds c", "demand 1 timeout"]);
    expect(mesh.gets(c1).gets(e1).view["cds c"]).toBe("ready 1");
    expect(mesh.loses(CLUSTER, "c").terms).toEqual(["cds *"]);
  });

  test("C-VHD-02 a request for a host goes on when its virtual host is there, or is known not to be", () => {
    const table = held(ROUTE, "r", "1", [need.hosts()]);
    const mesh = quiet(listening().gets(l1, table).syncs(HOST));
    const route = mesh.node(ROUTE, "r").id;
    demanding(mesh, 1, { kind: "virtual-host", route, host: "A.example" });
    expect(mesh.said).toEqual(["watch vhds r/a.example"]);
    expect(mesh.gets(held(HOST, "r/a.example", "1")).said).toEqual(["demand 1 found"]);
    demanding(mesh, 2, { kind: "virtual-host", route, host: "b.example" });
    expect(mesh.loses(HOST, "r/b.example").said).toEqual([
      "watch vhds r/b.example",
      "demand 2 absent",
      "stop vhds r/b.example",
    ]);
    expect(mesh.node(ROUTE, "r").links.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "* there",
      "r/a.example there",
    ]);
    mesh.gets(held(ROUTE, "r", "2", [need.hosts()]));
    expect(mesh.terms).toEqual(["lds *", "rds r", "vhds *", "vhds r/a.example"]);
    mesh.gets(held(ROUTE, "r", "3"));
    expect(mesh.terms).toEqual(["lds *", "rds r"]);
  });

  test("C-VHD-06 a virtual host that comes again as it was is not told", () => {
    const mesh = listening().gets(l1, held(ROUTE, "r", "1", [need.hosts()]), held(HOST, "r/a", "1"));
    const before = mesh.node(HOST, "r/a");
    const again = { ...held(HOST, "r/a", "1"), version: "1" };
    mesh.confirms(again);
    expect(mesh.node(HOST, "r/a")).toBe(before);
  });

  test("C-ODC-03 the routes of a scope are fetched at its first use only, and kept over an update", () => {
    const lazy = (version: string): ReturnType<typeof held> =>
      held(SCOPE, "s", version, [need.routesOfScope("r", true)]);
    const mesh = quiet(
      listening()
        .gets(held(LISTENER, "l", "1", [need.scopes()]), lazy("1"))
        .syncs(SCOPE),
    );
    expect(mesh.view).toEqual({ "lds l": "ready 1", "srds s": "ready 1" });
    demanding(mesh, 1, { kind: "scope", scope: mesh.node(SCOPE, "s").id });
    expect(mesh.said).toEqual(["watch rds r"]);
    expect(mesh.gets(r1).said).toEqual(["demand 1 found"]);
    expect(mesh.gets(lazy("2")).terms).toEqual(["lds *", "rds r", "srds *"]);
  });

  test("what cannot be there is absent at once", () => {
    const mesh = quiet(listening().gets(l1, r1));
    demanding(mesh, 1, { kind: "virtual-host", route: mesh.node(ROUTE, "r").id, host: "a" });
    demanding(mesh, 2, { kind: "scope", scope: "none" });
    expect(mesh.said).toEqual(["demand 1 absent", "demand 2 absent"]);
  });

  test("a request whose routes go away goes on, and one that is withdrawn leaves no timer", () => {
    const mesh = quiet(
      listening()
        .gets(l1, held(ROUTE, "r", "1", [need.hosts()]))
        .syncs(HOST),
    );
    const route = mesh.node(ROUTE, "r").id;
    demanding(mesh, 1, { kind: "virtual-host", route, host: "a" });
    demanding(mesh, 2, { kind: "virtual-host", route, host: "b" });
    mesh.on({ kind: "demand-withdrawn", demand: 2 });
    expect(mesh.timers.size).toBe(1);
    mesh.loses(LISTENER, "l");
    expect(mesh.said.filter((line) => line.startsWith("demand"))).toEqual(["demand 1 absent"]);
    expect([mesh.terms, mesh.timers.size]).toEqual([["lds *"], 0]);
  });
});

describe("nodes", () => {
  test("have ids that can be printed, the same whoever asks first", () => {
    const scope = held(SCOPE, "s", "1", [need.routesOfScope("r")]);
    const mesh = listening().gets(held(LISTENER, "l", "1", [need.scopes()]), scope);
    expect([...mesh.nodes.keys()]).toEqual([
      "ads type.googleapis.com/envoy.config.listener.v3.Listener l",
      "ads>ads>7000 type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration s",
      "ads type.googleapis.com/envoy.config.route.v3.RouteConfiguration r",
    ]);
  });

  test("are roots while they are asked for by their names, whoever refers to them", () => {
    const roots = (mesh: MeshPlay): readonly string[] =>
      [...mesh.nodes.values()].flatMap(({ name, isRoot }) => (isRoot ? [name] : []));
    const mesh = named().gets(l1, r1);
    expect(roots(mesh)).toEqual(["l"]);
    mesh.start({ root: 2, source: "ads", type: CLUSTER, term: "c", timeoutMs: 0 });
    expect(roots(mesh)).toEqual(["l", "c"]);
    mesh.on({ kind: "root-removed", root: 2 });
    expect([roots(mesh), mesh.terms]).toEqual([["l"], ["cds c", "lds l", "rds r"]]);
    const everything = clustering().gets(c1);
    expect(roots(everything)).toEqual([]);
    const demand = { kind: "cluster", source: "ads", type: CLUSTER, name: "d" } as const;
    everything.on({ kind: "demanded", demand: 1, what: demand, timeoutMs: 0 });
    expect(roots(everything)).toEqual(["d"]);
    expect(roots(everything.gets(held(CLUSTER, "d", "1")))).toEqual(["d"]);
  });
});

describe("what is told of a node", () => {
  test("another version of the same content is what is in use, and warms nothing", () => {
    const mesh = clustering().gets(c1, e1);
    mesh.gets({ ...c1, version: "other" });
    expect(mesh.view["cds c"]).toBe("ready other");
  });

  test("what was refused, or gone, and comes again as it was is well again", () => {
    const mesh = listening().gets(l1, r1).fails(ROUTE, "r");
    expect(mesh.node(ROUTE, "r").failure?.why).toBe("rejected");
    expect(mesh.gets(r1).node(ROUTE, "r").failure).toBeUndefined();
    expect(mesh.fails(ROUTE, "r").loses(ROUTE, "r").node(ROUTE, "r").failure).toBeUndefined();
    expect(mesh.view["rds r"]).toBe("absent 1");
    expect(mesh.gets(r1).view["rds r"]).toBe("ready 1");
  });

  test("what one watch is told to be gone is there as long as another one has it", () => {
    const mesh = clustering().gets(c1, e1).start({ root: 7, source: "ads", type: CLUSTER, term: "c", timeoutMs: 0 });
    const [own] = [...mesh.watches.values()].filter(({ term, type }) => type === CLUSTER && term === "c");
    const tell = (news: object): void => {
      mesh.on({ kind: "news", watch: own?.watch ?? 0, news: { name: "c", ...news } } as Parameters<MeshPlay["on"]>[0]);
    };
    tell({ kind: "changed", resource: c1 });
    tell({ kind: "absent", why: "removed", held: undefined });
    expect(mesh.view).toEqual({ "cds c": "ready 1", "eds c": "ready 1" });
  });

  test("those who refer to it are told when it can be used", () => {
    const mesh = named().gets(l1, r1, c1);
    const state = (): unknown => mesh.node(ROUTE, "r").links[0]?.state;
    expect(state()).toBe("missing");
    mesh.gets(e1);
    expect(state()).toBe("there");
    mesh.loses(CLUSTER, "c");
    expect(state()).toBe("missing");
  });

  test("those who refer to it are told of what was there before anybody referred to it", () => {
    const mesh = named().start({ root: 2, source: "ads", type: CLUSTER, term: "*", timeoutMs: 0 });
    const dns = held(CLUSTER, "c", "1");
    mesh.gets(l1, dns, r1);
    expect(mesh.node(ROUTE, "r").links[0]?.state).toBe("missing");
    expect(mesh.gets(dns).node(ROUTE, "r").links[0]?.state).toBe("there");
  });

  test("who does not wait for it any more is not told of it", () => {
    const other = held(LISTENER, "m", "1", [need.routes("r")]);
    const mesh = listening().gets(l1, other, held(LISTENER, "l", "2", [need.routes("q")]));
    const before = mesh.node(LISTENER, "l");
    expect(mesh.gets(r1).node(LISTENER, "l")).toBe(before);
  });
});

describe("a server that cannot be reached", () => {
  const unreachable = (mesh: MeshPlay, message: string): MeshPlay => {
    const error = { code: 14, message };
    for (const watch of mesh.watches.keys())
      mesh.on({
        kind: "news",
        watch,
        news: { kind: "failed", name: undefined, why: "unreachable", error, held: undefined },
      });
    return mesh;
  };
  const failures = (mesh: MeshPlay): unknown =>
    [...mesh.nodes.values()].map(({ name, failure }) => [name, failure?.error.message]);

  test("is told of what was never had, and not of what is in use: it comes back without a word", () => {
    const mesh = unreachable(named().gets(l1), "away");
    expect(failures(mesh)).toEqual([
      ["l", undefined],
      ["r", "away"],
    ]);
    expect(failures(mesh.gets(r1))).toEqual([
      ["l", undefined],
      ["r", undefined],
      ["c", undefined],
    ]);
  });

  test("is not told any more when it is back, and nothing else is forgotten", () => {
    const mesh = unreachable(named().gets(l1), "away");
    for (const watch of mesh.watches.keys()) mesh.on({ kind: "news", watch, news: { kind: "recovered" } });
    expect(failures(mesh)).toEqual([
      ["l", undefined],
      ["r", undefined],
    ]);
  });

  test("is told once, however often it is tried", () => {
    const mesh = unreachable(named(), "away");
    const before = mesh.node(LISTENER, "l");
    expect(unreachable(mesh, "away").node(LISTENER, "l")).toBe(before);
    expect(failures(unreachable(mesh, "still away"))).toEqual([["l", "still away"]]);
  });
});

describe("named roots", () => {
  test("a circle of clusters is let go as a whole", () => {
    const ring = (from: string, to: string): ReturnType<typeof held> => held(CLUSTER, from, "1", [need.cluster(to)]);
    const mesh = named().gets(l1, r1, ring("c", "d"), ring("d", "c"));
    expect(mesh.terms).toEqual(["cds c", "cds d", "lds l", "rds r"]);
    mesh.gets(held(ROUTE, "r", "2", [need.cluster("d")]));
    expect(mesh.terms).toEqual(["cds c", "cds d", "lds l", "rds r"]);
    mesh.gets(held(ROUTE, "r", "3"));
    expect(mesh.terms).toEqual(["lds l", "rds r"]);
    mesh.on({ kind: "root-removed", root: 1 });
    expect([mesh.terms, mesh.view, mesh.machine.watches, mesh.timers.size]).toEqual([[], {}, 0, 0]);
  });

  test("it is complete only when every name was answered and nothing warms", () => {
    const mesh = named().gets(l1, r1);
    expect(mesh.isComplete).toBe(false);
    expect(mesh.gets(c1).isComplete).toBe(false);
    expect(mesh.gets(e1).isComplete).toBe(true);
    mesh.gets(held(ROUTE, "r", "2", [need.cluster("c"), need.cluster("ghost")]));
    expect(mesh.isComplete).toBe(false);
    expect(mesh.loses(CLUSTER, "ghost", { why: "does-not-exist" }).isComplete).toBe(true);
    expect(mesh.node(ROUTE, "r").links.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "c there",
      "ghost missing",
    ]);
  });

  test("what several events changed of one node is told once, when it is asked for", () => {
    const mesh = named().gets(l1, held(ROUTE, "r", "1", [need.cluster("c"), need.cluster("d")]));
    const effects = ["c", "d"].flatMap((name, i) => {
      const resource = held(CLUSTER, name, "1");
      return mesh.machine.on({ kind: "news", watch: 3 + i, news: { kind: "changed", name, resource } }, mesh);
    });
    expect(effects.filter(({ kind }) => kind === "changed").length).toBe(2);
    const changes = mesh.machine.takeChanges();
    expect(changes?.changed.map(({ name, state, links }) => [name, state, links.map((link) => link.state)])).toEqual([
      ["c", "ready", []],
      ["r", "ready", ["there", "there"]],
      ["d", "ready", []],
    ]);
    expect([changes?.gone, changes?.isComplete]).toEqual([[], true]);
    expect(mesh.machine.takeChanges()).toBe(undefined);
  });

  test("C-WRM-03 it is complete when the time is over for what nobody answered", () => {
    const mesh = named().gets(l1);
    expect([mesh.passes(14_999).isComplete, mesh.passes(1).isComplete]).toEqual([false, true]);
    expect(mesh.view).toEqual({ "lds l": "ready 1", "rds r": "requested" });
    expect(named().passes(15_000).isComplete).toBe(true);
  });

  test("a resource that answers under another name is the one that is meant", () => {
    const mesh = named().gets(l1);
    const other = held(ROUTE, "canonical", "1");
    mesh.on({ kind: "news", watch: 2, news: { kind: "changed", name: "canonical", resource: other } });
    expect(mesh.view).toEqual({ "lds l": "ready 1", "rds canonical": "ready 1" });
    expect(mesh.node(ROUTE, "canonical").watches).toEqual([2]);
    expect(mesh.node(LISTENER, "l").links[0]?.node).toBe(mesh.node(ROUTE, "canonical").id);
    const gone = { kind: "absent", name: "canonical", why: "expired", held: undefined } as const;
    mesh.on({ kind: "news", watch: 2, news: gone });
    expect(mesh.view).toEqual({ "lds l": "ready 1", "rds r": "absent" });
    mesh.on({ kind: "root-removed", root: 1 });
    expect([mesh.view, mesh.terms]).toEqual([{}, []]);
  });

  test("what answers under another name is no answer of whom was meant before", () => {
    const mesh = clustering().gets(held(CLUSTER, "c", "1"));
    mesh.start({ root: 7, source: "ads", type: CLUSTER, term: "c", timeoutMs: 0 });
    expect(mesh.node(CLUSTER, "c").watches).toEqual([1, 2]);
    const other = held(CLUSTER, "other", "1");
    mesh.on({ kind: "news", watch: 2, news: { kind: "changed", name: "other", resource: other } });
    expect([mesh.node(CLUSTER, "c").watches, mesh.node(CLUSTER, "other").watches]).toEqual([[1], [2]]);
  });

  test("a Listener that is gone takes everything with it, and brings it back", () => {
    const mesh = named().gets(l1, r1, c1, e1).loses(LISTENER, "l");
    expect([mesh.view, mesh.terms]).toEqual([{ "lds l": "absent" }, ["lds l"]]);
    expect(mesh.gets(l1, r1, c1, e1).view["cds c"]).toBe("ready 1");
  });
});
