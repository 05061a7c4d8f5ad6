import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cluster, shown, viewOf, WrittenLayer } from "../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS } from "../../test/support/resources.ts";
import {
  type Change,
  changesAmong,
  type Difference,
  differenceBetween,
  noDifference,
  positionKey,
  reaches,
  type ShareDifference,
} from "./difference.ts";
import type { View } from "./view.ts";

/** The changes in short, in the order of their names, and what a wildcard is told. */
function told({ changes, segments }: Difference): unknown {
  return {
    changes: changes.map(({ name, then, now }) => `${name}: ${then?.version ?? "-"} → ${now?.version ?? "-"}`).sort(),
    puts: segments.flatMap((segment) => segment.puts.map(shown)).sort(),
    removed: segments.flatMap((segment) => segment.removed).sort(),
  };
}

const version = (name: string, label: string): string => cluster(name, label).version;
const between = (from: View, revision: number, to: View): unknown =>
  told(differenceBetween({ view: from, revision }, to, CLUSTER));

describe("a difference in one view", () => {
  test("is none where nothing changed since", () => {
    const base = new WrittenLayer("base", [cluster("a", "1")], 3);
    const view = viewOf(base);
    expect(differenceBetween({ view, revision: 3 }, view, CLUSTER)).toBe(noDifference);
    expect(differenceBetween({ view, revision: 1 }, view, ENDPOINTS)).toBe(noDifference);
    expect(noDifference).toEqual({ size: 0, changes: [], segments: [] });
  });

  test("is made of the segments of its layers, which other views share", () => {
    const one = new WrittenLayer("one", [cluster("a", "1")]);
    const two = new WrittenLayer("two", [cluster("b", "1")]);
    const base = new WrittenLayer("base", [cluster("c", "1"), cluster("d", "1")]);
    const views = [viewOf(one, base), viewOf(two, base)] as const;
    base.put(2, cluster("c", "2"));
    base.delete(2, "d");
    one.put(2, cluster("e", "1"));
    const differences = views.map((view) => differenceBetween({ view, revision: 1 }, view, CLUSTER));
    expect(told(differences[0] ?? noDifference)).toEqual({
      changes: [
        `c: ${version("c", "1")} → ${version("c", "2")}`,
        `d: ${version("d", "1")} → -`,
        `e: - → ${version("e", "1")}`,
      ],
      puts: ["c@2", "e@1"],
      removed: ["d"],
    });
    expect(differences[0]?.changes).toBe(differences[0]?.changes);
    expect(differences[0]?.segments.length).toBe(2);
    expect(differences[1]?.segments.length).toBe(1);
    expect(differences[0]?.segments[1]).toBe(differences[1]?.segments[0]);
  });

  test("is one list for all views of a layer whose own ones did not change, however many they are", () => {
    const own = ["x", "y"].map((name) => new WrittenLayer(name, [cluster(name, "1")]));
    const base = new WrittenLayer("base", [cluster("c", "1"), cluster("d", "1")]);
    const views = own.map((layer) => viewOf(layer, base));
    base.put(2, cluster("c", "2"));
    const [one, other] = views.map((view) => differenceBetween({ view, revision: 1 }, view, CLUSTER).changes);
    expect(one).toHaveLength(1);
    expect(one).toBe(other);
  });

  test("has no segment where a layer's change came to nothing", () => {
    const base = new WrittenLayer("base", [cluster("a", "1")]);
    const view = viewOf(base);
    base.put(2, cluster("a", "2"));
    base.put(3, cluster("a", "1"));
    expect(told(differenceBetween({ view, revision: 1 }, view, CLUSTER))).toEqual(told(noDifference));
  });

  test("says nothing of what another layer hides", () => {
    const top = new WrittenLayer("top", [cluster("a", "top")]);
    const base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1")]);
    const view = viewOf(top, base);
    base.put(2, cluster("a", "2"));
    expect(told(differenceBetween({ view, revision: 1 }, view, CLUSTER))).toEqual(told(noDifference));
    base.put(3, cluster("b", "2"));
    expect(between(view, 1, view)).toEqual({
      changes: [`b: ${version("b", "1")} → ${version("b", "2")}`],
      puts: ["b@2"],
      removed: [],
    });
  });

  test("says what a name becomes when a layer begins or ends to hide it", () => {
    const top = new WrittenLayer("top", [cluster("a", "top")]);
    const base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1")]);
    const view = viewOf(top, base);
    top.delete(2, "a");
    top.put(2, cluster("b", "top"));
    expect(between(view, 1, view)).toEqual({
      changes: [`a: ${version("a", "top")} → ${version("a", "1")}`, `b: ${version("b", "1")} → ${version("b", "top")}`],
      puts: ["a@1", "b@top"],
      removed: [],
    });
    base.delete(3, "a");
    expect(between(view, 1, view)).toEqual({
      changes: [`a: ${version("a", "top")} → -`, `b: ${version("b", "1")} → ${version("b", "top")}`],
      puts: ["b@top"],
      removed: ["a"],
    });
  });

  test("says nothing where another layer took over the same content", () => {
    const top = new WrittenLayer("top");
    const base = new WrittenLayer("base", [cluster("a", "1")]);
    const view = viewOf(top, base);
    top.put(2, cluster("a", "1"));
    base.delete(3, "a");
    expect(told(differenceBetween({ view, revision: 1 }, view, CLUSTER))).toEqual(told(noDifference));
  });

  test("tells a wildcard of a name that comes on demand only as if it were not there", () => {
    const base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1", true), cluster("c", "1", true)]);
    const hiding = new WrittenLayer("hiding", [cluster("x", "1")]);
    const views = [viewOf(base), viewOf(hiding, base)] as const;
    hiding.put(2, cluster("a", "2", true));
    base.put(2, cluster("b", "1"), cluster("a", "1", true));
    base.delete(2, "c");
    const same = { puts: ["b@1"], removed: ["a"] };
    for (const view of views) expect(between(view, 1, view)).toMatchObject(same);
    expect(differenceBetween({ view: views[1], revision: 1 }, views[1], CLUSTER).changes.length).toBe(3);
  });
});

describe("a difference between two views", () => {
  test("is what is held in one and not, or otherwise, in the other", () => {
    const one = new WrittenLayer("one", [cluster("a", "one"), cluster("b", "one"), cluster("same", "1")]);
    const two = new WrittenLayer("two", [cluster("b", "two"), cluster("c", "two"), cluster("same", "1")]);
    const base = new WrittenLayer("base", [cluster("a", "base"), cluster("d", "base")]);
    expect(between(viewOf(one, base), 1, viewOf(two, base))).toEqual({
      changes: [
        `a: ${version("a", "one")} → ${version("a", "base")}`,
        `b: ${version("b", "one")} → ${version("b", "two")}`,
        `c: - → ${version("c", "two")}`,
      ],
      puts: ["a@base", "b@two", "c@two"],
      removed: [],
    });
    expect(between(viewOf(one), 1, viewOf(base))).toMatchObject({ removed: ["b", "same"] });
  });

  test("is told from the revision at which the old one was left", () => {
    const one = new WrittenLayer("one", [cluster("a", "1")]);
    const base = new WrittenLayer("base", [cluster("b", "1"), cluster("c", "1")]);
    one.put(2, cluster("a", "2"));
    base.put(2, cluster("b", "2"));
    expect(between(viewOf(one, base), 1, viewOf(base))).toEqual({
      changes: [`a: ${version("a", "1")} → -`, `b: ${version("b", "1")} → ${version("b", "2")}`],
      puts: ["b@2"],
      removed: ["a"],
    });
  });

  test("is seen even if both have the same layers in another order", () => {
    const one = new WrittenLayer("one", [cluster("a", "one")]);
    const two = new WrittenLayer("two", [cluster("a", "two"), cluster("b", "two")]);
    expect(between(viewOf(one, two), 1, viewOf(two, one))).toEqual({
      changes: [`a: ${version("a", "one")} → ${version("a", "two")}`],
      puts: ["a@two"],
      removed: [],
    });
    expect(told(differenceBetween({ view: viewOf(one, two), revision: 1 }, viewOf(one, two), CLUSTER))).toEqual(
      told(noDifference),
    );
  });

  test("looks through a layer that only one of them has", () => {
    const lid = new WrittenLayer("lid", [cluster("a", "lid"), cluster("b", "base")]);
    const base = new WrittenLayer("base", [cluster("a", "base"), cluster("b", "base")]);
    expect(between(viewOf(base), 1, viewOf(lid, base))).toMatchObject({ puts: ["a@lid"], removed: [] });
    expect(between(viewOf(lid, base), 1, viewOf(base))).toMatchObject({ puts: ["a@base"], removed: [] });
  });
});

describe("a position", () => {
  test("has one key as long as the difference is the same", () => {
    const top = new WrittenLayer("top", [cluster("a", "1")], 2);
    const base = new WrittenLayer("base", [cluster("b", "1")], 5);
    const view = viewOf(top, base);
    const keys = [1, 2, 3, 4, 5, 6].map((revision) => positionKey({ view, revision }, view, CLUSTER));
    expect(keys).toEqual(["0", "2", "2", "2", "5", "5"]);
    expect(positionKey({ view, revision: 4 }, view, ENDPOINTS)).toBe("0");
    expect(positionKey({ view, revision: 4 }, viewOf(base), CLUSTER)).not.toBe("2");
    const other = viewOf(base);
    const moved = [
      positionKey({ view, revision: 4 }, other, CLUSTER),
      positionKey({ view, revision: 5 }, other, CLUSTER),
      positionKey({ view: viewOf(top), revision: 4 }, other, CLUSTER),
    ];
    expect(new Set(moved).size).toBe(3);
    const sameMove = [2, 3, 4].map((revision) => positionKey({ view: viewOf(top, base), revision }, other, CLUSTER));
    expect(sameMove).toEqual([moved[0], moved[0], moved[0]]);
  });

  test("is reached for as long as no journal of its layers was trimmed behind it", () => {
    const top = new WrittenLayer("top", [cluster("a", "1")], 2);
    const base = new WrittenLayer("base", [cluster("b", "1")], 4);
    const view = viewOf(top, base);
    expect(reaches({ view, revision: 1 }, CLUSTER)).toBe(true);
    base.tableFor(CLUSTER).journal.trim(4);
    expect([3, 4, 5].map((revision) => reaches({ view, revision }, CLUSTER))).toEqual([false, true, true]);
    expect(reaches({ view, revision: 3 }, ENDPOINTS)).toBe(true);
    expect(reaches({ view: viewOf(top), revision: 3 }, CLUSTER)).toBe(true);
  });
});

describe("the changes of some names", () => {
  const written = Array.from({ length: 24 }, (_, i) => `n${i}`);
  const write = fc.record({ layer: fc.nat(2), name: fc.nat(23), label: fc.nat(2), onDemand: fc.boolean() });
  const layersOf = fc.subarray([0, 1, 2], { minLength: 1 });
  const inShort = ({ name, then, now }: Change): string => `${name}: ${then?.version ?? "-"} → ${now?.version ?? "-"}`;

  test("are those among all changes, in one view or between two, whatever the layers hide", () => {
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(write, { minLength: 30, maxLength: 60 }),
        layersOf,
        fc.option(layersOf, { nil: undefined }),
        fc.nat(30),
        fc.subarray([...written, "unknown"], { maxLength: 4 }),
        (writes, then, now, revision, names) => {
          const layers = [0, 1, 2].map((number) => new WrittenLayer(`layer ${number}`));
          for (const [i, { layer, name, label, onDemand }] of writes.entries()) {
            const called = written[name] ?? "";
            if (label === 0) layers[layer]?.delete(i, called);
            else layers[layer]?.put(i, cluster(called, String(label), onDemand));
          }
          const of = (numbers: readonly number[]): View => viewOf(...numbers.flatMap((number) => layers[number] ?? []));
          const view = of(then);
          const to = now === undefined ? view : of(now);
          const from = { view, revision };
          const among = changesAmong(new Set(names), from, to, CLUSTER);
          if (among === undefined) return;
          found++;
          const all = differenceBetween(from, to, CLUSTER).changes;
          const expected = all.filter(({ name }) => names.includes(name)).map(inShort);
          expect(among.map(inShort).sort()).toEqual(expected.sort());
        },
      ),
      { numRuns: 2_000 },
    );
    expect(found).toBeGreaterThan(200);
  });

  test("are not looked up where there are as many, or where a resource may be asked for by an alias", () => {
    const aliased = { ...cluster("b", "1"), aliases: ["a"] };
    const many = Array.from({ length: 9 }, (_, i) => cluster(`c${i}`, "1"));
    const [plain, withAlias] = [new WrittenLayer("plain"), new WrittenLayer("with alias", [aliased])];
    for (const layer of [plain, withAlias]) for (const put of many) layer.put(2, put);
    const among = (layer: WrittenLayer, names: readonly string[]): number | undefined => {
      const view = viewOf(layer);
      return changesAmong(new Set(names), { view, revision: 1 }, view, CLUSTER)?.length;
    };
    expect([among(plain, ["c0", "a"]), among(plain, ["c0", "c1", "c2"])]).toEqual([1, undefined]);
    expect(among(withAlias, ["c0", "a"])).toBe(undefined);
  });
});

describe("a difference for a node that moves below its own layer", () => {
  const names = ["a", "b", "c"];
  const write = fc.record({ layer: fc.nat(3), name: fc.nat(2), label: fc.nat(2), onDemand: fc.boolean() });
  const layersOf = fc.subarray([0, 1, 2, 3], { minLength: 1 });

  function shareInMap(): { readonly known: Map<string, Difference>; readonly share: ShareDifference } {
    const known = new Map<string, Difference>();
    const share: ShareDifference = (key, make) => {
      const difference = known.get(key) ?? make();
      known.set(key, difference);
      return difference;
    };
    return { known, share };
  }

  test("is one for all nodes with the same layers below, with one segment", () => {
    const own = ["x", "y"].map((name) => new WrittenLayer(name, [cluster(name, "1")]));
    const [one, two] = ["1", "2"].map((label) => new WrittenLayer(label, [cluster("a", label), cluster("b", "1")]));
    const base = new WrittenLayer("base", [cluster("a", "0"), cluster("c", "0")]);
    if (one === undefined || two === undefined) throw new Error("no layers");
    const { known, share } = shareInMap();
    const differences = own.map((layer) =>
      differenceBetween(
        { view: viewOf(layer, one, base), revision: 1 },
        viewOf(layer, two, base),
        CLUSTER,
        "left-off",
        share,
      ),
    );
    expect([differences[0] === differences[1], known.size]).toEqual([true, 1]);
    expect(told(differences[0] ?? noDifference)).toEqual({
      changes: [`a: ${version("a", "1")} → ${version("a", "2")}`],
      puts: ["a@2"],
      removed: [],
    });
  });

  test("is what it is without sharing, whatever the layers hide and whenever they changed", () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 14 }), layersOf, layersOf, fc.nat(6), (writes, then, now, revision) => {
        const layers = names.concat("d").map((name) => new WrittenLayer(name));
        for (const [i, { layer, name, label, onDemand }] of writes.entries()) {
          const called = names[name] ?? "a";
          if (label === 0) layers[layer]?.delete(i, called);
          else layers[layer]?.put(i, cluster(called, String(label), onDemand));
        }
        const of = (numbers: readonly number[]): View => viewOf(...numbers.flatMap((number) => layers[number] ?? []));
        const from = { view: of([0, ...then.filter((number) => number > 0)]), revision };
        const to = of([0, ...now.filter((number) => number > 0)]);
        const { share } = shareInMap();
        const plain = told(differenceBetween(from, to, CLUSTER));
        // The second time it is known.
        for (let i = 0; i < 2; i++)
          expect(told(differenceBetween(from, to, CLUSTER, "left-off", share))).toEqual(plain);
      }),
      { numRuns: 2_000 },
    );
  });
});
