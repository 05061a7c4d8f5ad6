import { describe, expect, test } from "vitest";
import { cluster, namesOf } from "../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS, resource } from "../../test/support/resources.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { formatVersion } from "../resource/version.ts";
import { LayerSet } from "./layer-set.ts";
import type { LayerChange } from "./transaction.ts";
import type { View } from "./view.ts";

interface Watcher {
  readonly is: string;
}

const boundless = { lines: 1_000_000, bytes: 1_000_000_000 };
const layerSet = (limits = boundless): LayerSet<Watcher> =>
  new LayerSet({ keepsBodies: (type) => type === CLUSTER }, limits);

/** The keys of the views that a transaction concerns; undefined if it changed nothing. */
function apply(layers: LayerSet<Watcher>, revision: number, ...changes: LayerChange[]): readonly string[] | undefined {
  const touched = layers.apply({ changes }, revision);
  return touched && [...touched.views].map((view) => view.key).sort();
}

/** A view of these layers with one watcher. */
function watched(layers: LayerSet<Watcher>, ...names: string[]): { view: View; watcher: Watcher } {
  const view = layers.viewOf(names);
  const watcher = { is: names.join() };
  layers.watch(view, watcher);
  return { view, watcher };
}

const put = (layer: string, ...names: string[]): LayerChange => ({
  layer,
  puts: names.map((name) => cluster(name, "1")),
});
const drop = (layer: string, ...names: string[]): LayerChange => ({
  layer,
  deletes: names.map((name) => ({ type: CLUSTER, name })),
});
const layerNames = (layers: LayerSet<Watcher>): readonly string[] => [...layers.describe()].map(({ name }) => name);

describe("a transaction", () => {
  test("over many layers concerns the views that have one which changed", () => {
    const layers = layerSet();
    const both = watched(layers, "top", "base").view;
    const base = watched(layers, "base").view;
    const other = watched(layers, "other").view;
    expect(apply(layers, 1, put("top", "a"), put("base", "b"))).toEqual(['["base"]', '["top","base"]']);
    expect(apply(layers, 2, put("top", "c"))).toEqual(['["top","base"]']);
    expect(apply(layers, 3, put("nobody", "d"))).toEqual([]);
    expect([both, base, other].map((view) => namesOf(view))).toEqual([["a@1", "b@1", "c@1"], ["b@1"], []]);
    expect([both.changedAt(CLUSTER), base.changedAt(CLUSTER)]).toEqual([2, 1]);
  });

  test("changes nothing where it deletes what is not there or puts what is", () => {
    const layers = layerSet();
    const { view } = watched(layers, "base");
    apply(layers, 1, put("base", "a"));
    expect(apply(layers, 2, drop("base", "b"), drop("nowhere", "a"), put("base", "a"))).toBeUndefined();
    expect(apply(layers, 2, { layer: "base", deletes: [{ type: ENDPOINTS, name: "a" }] })).toBeUndefined();
    expect(apply(layers, 2, { layer: "base" })).toBeUndefined();
    expect(view.changedAt(CLUSTER)).toBe(1);
    expect(apply(layers, 3, drop("base", "a"))).toEqual(['["base"]']);
    expect(namesOf(view)).toEqual([]);
  });

  test("puts before it deletes, each as one change", () => {
    const layers = layerSet();
    const { view } = watched(layers, "base");
    apply(layers, 1, { ...put("base", "a", "b"), ...{ deletes: [{ type: CLUSTER, name: "b" }] } });
    expect(namesOf(view)).toEqual(["a@1"]);
  });

  test("sets the version that is printed for a type", () => {
    const layers = layerSet();
    const { view } = watched(layers, "base");
    const versions = (version: string | undefined): LayerChange => ({
      layer: "base",
      typeVersions: new Map<TypeUrl, string | undefined>([[CLUSTER, version]]),
    });
    apply(layers, 1, put("base", "a"));
    expect(apply(layers, 2, versions("v1"))).toEqual(['["base"]']);
    expect(apply(layers, 3, versions("v1"))).toBeUndefined();
    expect(view.typeVersion(CLUSTER)).toBe("v1");
    expect([...layers.describe()][0]?.types.get(CLUSTER)?.version).toBe("v1");
    expect(apply(layers, 4, versions(undefined))).toEqual(['["base"]']);
  });
});

describe("a view", () => {
  test("is one object for as long as somebody watches it", () => {
    const layers = layerSet();
    apply(layers, 1, put("base", "a"));
    expect(layers.viewOf(["base"])).not.toBe(layers.viewOf(["base"]));
    const { view, watcher } = watched(layers, "base");
    const other = { is: "other" };
    expect(layers.viewOf(["base"])).toBe(view);
    layers.watch(view, other);
    expect([...layers.watchersOf(view)]).toEqual([watcher, other]);
    layers.unwatch(view, watcher);
    expect([...layers.watchersOf(view)]).toEqual([other]);
    expect(layers.viewOf(["base"])).toBe(view);
    layers.unwatch(view, other);
    expect([...layers.watchersOf(view)]).toEqual([]);
    expect(layers.viewOf(["base"])).not.toBe(view);
    expect(apply(layers, 2, put("base", "b"))).toEqual([]);
    layers.unwatch(view, other);
  });

  test("is told apart from one of the same layers in another order, or of names that look alike", () => {
    const layers = layerSet();
    const keys = [["a", "b"], ["b", "a"], ["a,b"], ['a","b'], []].map((names) => layers.viewOf(names).key);
    expect(new Set(keys).size).toBe(5);
  });

  test("sees what is put into its layers later, and what was put before", () => {
    const layers = layerSet();
    apply(layers, 1, put("base", "a"));
    const { view } = watched(layers, "new", "base");
    apply(layers, 2, put("new", "b"), put("base", "c"));
    expect(namesOf(view)).toEqual(["a@1", "b@1", "c@1"]);
  });
});

describe("a layer", () => {
  test("is forgotten when it is empty and no view has it", () => {
    const layers = layerSet();
    const { view, watcher } = watched(layers, "node", "base");
    expect(layerNames(layers)).toEqual(["node", "base"]);
    apply(layers, 1, put("base", "a"));
    layers.unwatch(view, watcher);
    expect(layerNames(layers)).toEqual(["base"]);
    apply(layers, 2, drop("base", "a"));
    expect(layerNames(layers)).toEqual([]);
    expect(namesOf(layers.viewOf(["base"]))).toEqual([]);
  });

  test("is not made by a change that changes nothing", () => {
    const layers = layerSet();
    const settings = { typeVersions: new Map([[CLUSTER, undefined]]), canaries: new Map([[CLUSTER, false]]) };
    expect(
      apply(layers, 1, drop("node/1", "a"), { layer: "node/2", ...settings }, { layer: "node/3" }),
    ).toBeUndefined();
    expect(layerNames(layers)).toEqual([]);
    expect(layers.holdsAny(CLUSTER)).toBe(false);
  });

  test.each([
    ["a version", { typeVersions: new Map([[CLUSTER, "v7"]]) }, { typeVersions: new Map([[CLUSTER, undefined]]) }],
    ["a canary", { canaries: new Map([[CLUSTER, true]]) }, { canaries: new Map([[CLUSTER, false]]) }],
  ])("is kept as long as a type in it has %s, be it before the first resource", (_, set, unset) => {
    const layers = layerSet();
    expect(apply(layers, 1, { layer: "base", ...set })).toEqual([]);
    apply(layers, 2, put("base", "a"));
    const view = layers.viewOf(["base"]);
    expect([view.printedVersion(CLUSTER), view.isCanary(CLUSTER)]).toEqual([
      "typeVersions" in set ? "v7" : undefined,
      "canaries" in set,
    ]);
    apply(layers, 3, drop("base", "a"));
    expect(layerNames(layers)).toEqual(["base"]);
    apply(layers, 4, { layer: "base", ...unset });
    expect(layerNames(layers)).toEqual([]);
  });

  test("is kept while another view has it", () => {
    const layers = layerSet();
    const first = watched(layers, "node", "base");
    const second = watched(layers, "base");
    layers.unwatch(first.view, first.watcher);
    expect(layerNames(layers)).toEqual(["base"]);
    expect(apply(layers, 1, put("base", "a"))).toEqual(['["base"]']);
    expect(namesOf(second.view)).toEqual(["a@1"]);
    apply(layers, 2, drop("base", "a"));
    apply(layers, 3, put("base", "b"));
    expect(namesOf(second.view)).toEqual(["b@1"]);
  });

  test("describes itself by the types it holds", () => {
    const layers = layerSet();
    const endpoints = resource(ENDPOINTS, "e", "1");
    apply(layers, 4, put("base", "a", "b"), { layer: "base", puts: [endpoints] });
    apply(layers, 5, { layer: "base", deletes: [{ type: ENDPOINTS, name: "e" }] });
    const [a, b] = [cluster("a", "1"), cluster("b", "1")];
    expect([...layers.describe()]).toEqual([
      {
        name: "base",
        types: new Map([[CLUSTER, { resources: 2, errors: 0, version: formatVersion(a.sum + b.sum), changedAt: 4 }]]),
      },
    ]);
  });

  test("counts as holder of a type that it ever held", () => {
    const layers = layerSet();
    expect(layers.holdsAny(CLUSTER)).toBe(false);
    apply(layers, 1, put("base", "a"));
    expect([layers.holdsAny(CLUSTER), layers.holdsAny(ENDPOINTS)]).toEqual([true, false]);
  });
});

describe("trimming", () => {
  const now = 1_000_000_000;
  const journalOf = (layers: LayerSet<Watcher>): { length: number; bytes: number; trimmedTo: number } => {
    const journal = layers.viewOf(["base"]).layers[0]?.table(CLUSTER)?.journal;
    return { length: journal?.length ?? -1, bytes: journal?.bytes ?? -1, trimmedTo: journal?.trimmedTo ?? -1 };
  };
  /** One change at each of these revisions. */
  function change(layers: LayerSet<Watcher>, from: number, to: number, size = 1): void {
    for (let revision = from; revision <= to; revision++) {
      const one = resource(CLUSTER, "a", `${revision}`.padStart(size, "0"));
      layers.apply({ changes: [{ layer: "base", puts: [one] }] }, revision);
    }
  }

  test("is not thought of before a journal is long", () => {
    const layers = layerSet();
    change(layers, 1, 1_024);
    const asked: string[] = [];
    const cursor = (type: TypeUrl): number => asked.push(type) + now;
    expect(layers.trim(cursor)).toEqual([]);
    expect(asked).toEqual([]);
    change(layers, 1_025, 1_025);
    expect(layers.trim(cursor)).toEqual([]);
    expect(asked).toEqual([CLUSTER]);
    expect(journalOf(layers)).toMatchObject({ length: 512, trimmedTo: 513 });
  });

  test("forgets what lies behind the oldest cursor and cuts nobody off", () => {
    const layers = layerSet();
    change(layers, 1, 1_030);
    expect(layers.trim((type) => (type === CLUSTER ? 100 : now))).toEqual([]);
    expect(journalOf(layers)).toMatchObject({ length: 930, trimmedTo: 100 });
  });

  test("keeps the newer half of what may still be used, for clients that come back", () => {
    const layers = layerSet();
    change(layers, 1, 1_030);
    for (let revision = 1_031; revision <= 2_060; revision++) {
      const one = resource(ENDPOINTS, "a", `${revision}`);
      layers.apply({ changes: [{ layer: "base", puts: [one] }] }, revision);
    }
    expect(layers.trim(() => now)).toEqual([]);
    const journals = [CLUSTER, ENDPOINTS].map((type) => layers.layer("base")?.table(type)?.journal.length);
    expect(journals).toEqual([515, 0]);
  });

  test("looks again only after as many lines more, at least a thousand", () => {
    const layers = layerSet();
    let looks = 0;
    const nobodyMoves = (): number => {
      looks++;
      return 0;
    };
    change(layers, 1, 1_025);
    layers.trim(nobodyMoves);
    change(layers, 1_026, 2_050);
    layers.trim(nobodyMoves);
    expect(looks).toBe(1);
    change(layers, 2_051, 2_051);
    layers.trim(nobodyMoves);
    expect(looks).toBe(2);
    change(layers, 2_052, 4_102);
    layers.trim(nobodyMoves);
    expect(looks).toBe(2);
    change(layers, 4_103, 4_103);
    layers.trim(nobodyMoves);
    expect(looks).toBe(3);
    layers.trim(nobodyMoves);
    expect(looks).toBe(3);
  });

  test("goes past a cursor when there are more lines than the limit, and says in which types", () => {
    const layers = layerSet({ ...boundless, lines: 4 });
    change(layers, 1, 4);
    expect(layers.trim(() => 0)).toEqual([]);
    expect(journalOf(layers)).toMatchObject({ length: 4, trimmedTo: 0 });
    change(layers, 5, 5);
    expect(layers.trim(() => 0)).toEqual([CLUSTER]);
    expect(journalOf(layers)).toMatchObject({ length: 2, trimmedTo: 3 });
    change(layers, 6, 8);
    expect(layers.trim(() => 5)).toEqual([]);
    expect(journalOf(layers)).toMatchObject({ length: 3, trimmedTo: 5 });
  });

  test("counts the bytes that lines keep alive too", () => {
    const layers = layerSet({ ...boundless, bytes: 1_000 });
    const size = resource(CLUSTER, "a", "x".repeat(200)).bytes.length;
    change(layers, 1, 1 + Math.floor(1_000 / size), 200);
    expect(layers.trim(() => 0)).toEqual([]);
    expect(journalOf(layers).bytes).toBe(4 * size);
    change(layers, 6, 6, 200);
    expect(layers.trim(() => 0)).toEqual([CLUSTER]);
    expect(journalOf(layers)).toEqual({ length: 3, bytes: 3 * size, trimmedTo: 3 });
  });

  test("looks at bytes from four mebibytes on, and again when they have doubled", () => {
    const layers = layerSet();
    const mebibyte = 1024 * 1024;
    let looks = 0;
    const nobodyMoves = (): number => {
      looks++;
      return 0;
    };
    change(layers, 1, 4, mebibyte);
    layers.trim(nobodyMoves);
    expect(looks).toBe(0);
    change(layers, 5, 5, mebibyte);
    layers.trim(nobodyMoves);
    expect(looks).toBe(1);
    change(layers, 6, 8, mebibyte);
    layers.trim(nobodyMoves);
    expect(looks).toBe(1);
    change(layers, 9, 10, mebibyte);
    layers.trim(nobodyMoves);
    expect(looks).toBe(2);
  });
});
