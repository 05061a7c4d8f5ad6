import { beforeEach, describe, expect, test } from "vitest";
import { heldOf } from "../../../test/support/garbage.ts";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS, plain } from "../../../test/support/resources.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import { SharedChanges } from "./shared-changes.ts";

test("of many views that changed much, only some differences are kept to be shared", async () => {
  const changes = new SharedChanges("left-off");
  const base = new WrittenLayer(
    "base",
    Array.from({ length: 20_000 }, (_, i) => cluster(`c${i}`, "1")),
  );
  const views = Array.from({ length: 30 }, (_, i) =>
    viewOf(new WrittenLayer(`node/${i}`, [cluster(`own${i}`, "1")]), base),
  );
  const refs = views.map((view) => new WeakRef(changes.between({ view, revision: 0 }, view, CLUSTER)));
  expect(changes.between({ view: views[29] ?? viewOf(base), revision: 0 }, views[29] ?? viewOf(base), CLUSTER)).toBe(
    refs[29]?.deref(),
  );
  expect(await heldOf(refs, 9)).toBe(9);
});

describe("what changed since a position", () => {
  const timed = (name: string, label: string): Resource => ({ ...cluster(name, label), ttlMs: 1000 });
  const glob = "xdstp://authority/envoy.config.cluster.v3.Cluster/g";
  let view: View;
  let from: Position;

  beforeEach(() => {
    const base = new WrittenLayer("base", [timed("a", "1"), cluster("b", "1"), timed("gone", "1")]);
    view = viewOf(base);
    from = { view, revision: 1 };
    base.put(2, timed("a", "2"), cluster("b", "2"), cluster("new", "1"), {
      ...cluster(`${glob}/x`, "1"),
      aliases: ["x"],
    });
    base.delete(2, "gone");
  });

  test("is computed once for all clients at the position, until the next transaction", () => {
    const changes = new SharedChanges("left-off");
    const difference = changes.between(from, view, CLUSTER);
    const names = changes.names(from, view, CLUSTER);
    const newcomers = changes.newcomers(from, view, CLUSTER);
    const byTerm = changes.byTerm(from, view, CLUSTER);
    expect([[...names].sort(), [...newcomers].sort()]).toEqual([
      ["a", "b", "gone", "new", `${glob}/x`],
      ["new", `${glob}/x`],
    ]);
    expect([...byTerm].map(([term, list]) => [term, list.map(({ name }) => name)]).sort()).toEqual(
      [
        ["a", ["a"]],
        ["b", ["b"]],
        ["gone", ["gone"]],
        ["new", ["new"]],
        ["x", [`${glob}/x`]],
        [`${glob}/x`, [`${glob}/x`]],
        [`${glob}/*`, [`${glob}/x`]],
      ].sort(),
    );
    const again = (): readonly unknown[] => [
      changes.between({ ...from }, view, CLUSTER),
      changes.names(from, view, CLUSTER),
      changes.newcomers(from, view, CLUSTER),
      changes.byTerm(from, view, CLUSTER),
    ];
    const first = [difference, names, newcomers, byTerm];
    expect(again().map((one, i) => one === first[i])).toEqual([true, true, true, true]);
    expect(changes.between({ view, revision: 2 }, view, CLUSTER).changes).toEqual([]);
    expect(changes.between(from, view, ENDPOINTS).changes).toEqual([]);
    expect(changes.between(from, view, CLUSTER)).toBe(difference);
    changes.clear();
    expect(again().map((one, i) => one === first[i])).toEqual([false, false, false, false]);
  });

  test("references something else than before", () => {
    const base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1"), cluster("gone", "1")]);
    const now = viewOf(base);
    base.put(2, cluster("a", "2"), plain("b", "2"), cluster("new", "1"));
    base.delete(2, "gone");
    const changes = new SharedChanges("left-off");
    const found = changes.retargeted({ view: now, revision: 1 }, now, CLUSTER);
    expect([...found]).toEqual(["b"]);
    expect(changes.retargeted({ view: now, revision: 1 }, now, CLUSTER)).toBe(found);
  });

  test("S-TTL-09: had a TTL before, which counts only for clients that are sent TTLs", () => {
    const told = new SharedChanges("told");
    const past = told.timedPast(from, view, CLUSTER);
    expect([...(past ?? [])].map(([name, { version }]) => [name, version]).sort()).toEqual([
      ["a", timed("a", "1").version],
      ["gone", timed("gone", "1").version],
    ]);
    expect(told.timedPast({ view, revision: 2 }, view, CLUSTER)).toBeUndefined();
    expect(new SharedChanges("left-off").timedPast(from, view, CLUSTER)).toBeUndefined();
  });
});
