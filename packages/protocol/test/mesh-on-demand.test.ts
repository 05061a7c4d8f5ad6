import { describe, expect, test } from "vitest";
import { held, type MeshPlay, need, SCOPE } from "./support/mesh-play.ts";
import { c1, clustering, e1, l1, listening, named, r1 } from "./support/mesh-starts.ts";
import { CLUSTER, HOST, LISTENER, ROUTE } from "./support/resources.ts";

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
