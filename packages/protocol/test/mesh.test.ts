import { describe, expect, test } from "vitest";
import { held, type MeshPlay, need, SCOPE } from "./support/mesh-play.ts";
import { c1, c2, clustering, e1, l1, listening, named, proxy, r1 } from "./support/mesh-starts.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "./support/resources.ts";

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
