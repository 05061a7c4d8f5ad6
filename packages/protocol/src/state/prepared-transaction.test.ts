import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLUSTER, failure, HOST, resource, traits } from "../../test/support/resources.ts";
import { tries } from "../../test/support/script.ts";
import { Work } from "../../test/support/work.ts";
import type { Resource } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { ambiguitiesIn } from "./ambiguity.ts";
import { LayerSet } from "./layer-set.ts";
import type { PreparedTransaction } from "./prepared-transaction.ts";
import { finish } from "./steps.ts";
import type { Table } from "./table.ts";
import type { LayerChange, Transaction } from "./transaction.ts";

const TYPES: readonly TypeUrl[] = [CLUSTER, HOST];
const LAYERS: readonly string[] = ["base", "group/a"];
const NAMES: readonly string[] = ["r/a.example", "r/b.example", "s/c.example"];

const layerSet = (): LayerSet<object> =>
  new LayerSet(
    { keepsBodies: (type) => type === CLUSTER, terms: (type) => traits(type)?.terms },
    { lines: 1_000, bytes: 1_000_000 },
  );

/** A resource, an error or a variant under one of few names. */
const resources: fc.Arbitrary<Resource> = fc
  .record({
    type: fc.constantFrom(...TYPES),
    name: fc.constantFrom(...NAMES),
    label: fc.constantFrom("1", "2"),
    onDemand: fc.boolean(),
    aliases: fc.subarray(["r/alias.example", "r/other.example"]),
    ttlMs: fc.constantFrom(undefined, 1_000, 2_000),
    is: fc.constantFrom("resource", "resource", "error", "variant"),
  })
  .map(({ type, name, label, onDemand, aliases, ttlMs, is }) => {
    if (is === "error") return failure(type, name, 13, label);
    const constraints = { kind: "value", key: "env", value: label } as const;
    return resource(type, name, label, {
      ...{ onDemand, aliases },
      ...(ttlMs !== undefined && { ttlMs }),
      ...(is === "variant" && { constraints }),
    });
  });

const changes: fc.Arbitrary<LayerChange> = fc.record({
  layer: fc.constantFrom(...LAYERS),
  puts: fc.array(resources, { maxLength: 4 }),
  deletes: fc.array(fc.record({ type: fc.constantFrom(...TYPES), name: fc.constantFrom(...NAMES) }), { maxLength: 2 }),
  typeVersions: fc.constantFrom(new Map(), new Map([[CLUSTER, "own"]]), new Map([[CLUSTER, undefined]])),
});

const transactions: fc.Arbitrary<Transaction> = fc.record({
  changes: fc.uniqueArray(changes, { selector: ({ layer }) => layer }),
});

/** Everything that can be seen of a table, up to a revision. */
function seenOf(table: Table | undefined, revision: number): unknown {
  if (table === undefined) return undefined;
  const { sum, changedAt, onDemand, standIns, printedVersion, hasHadAliases, whole, journal } = table;
  return {
    ...{ sum, changedAt, onDemand, standIns, printedVersion, hasHadAliases, whole },
    resources: [...table.resources],
    errors: new Map(table.errors),
    timed: new Map(table.timed),
    journal: [journal.length, journal.bytes, journal.trimmedTo],
    changes: Array.from({ length: revision + 1 }, (_, at) => table.changeAfter(at)),
    changedNames: table.takeChangedNames(),
    aliased: ["r/alias.example", "r/other.example"].map((alias) => table.aliased(alias)),
    within: ["r", "s"].map((collection) => table.within(collection)),
    variants: NAMES.map((name) => [...(table.variants?.of(name) ?? [])]),
    refersTo: NAMES.map((name) => table.refersTo(CLUSTER, name)),
  };
}

function seenIn(layers: LayerSet<object>, revision: number): unknown {
  return LAYERS.map((name) => TYPES.map((type) => seenOf(layers.layer(name)?.table(type), revision)));
}

test("a prepared transaction leads to what it leads to without, whatever was there and looked at before", () => {
  const steps = fc.array(fc.record({ transaction: transactions, isLookedAt: fc.boolean() }), { maxLength: 6 });
  // A transaction edits some tables much and others little: the latter are edited when it takes effect.
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 3 }), (script, editedAtOnce) => {
      const [plain, prepared] = [layerSet(), layerSet()];
      for (const [index, { transaction, isLookedAt }] of script.entries()) {
        const revision = index + 1;
        if (finish(ambiguitiesIn(transaction, (name) => plain.layer(name))).length > 0) continue;
        const applied = plain.apply(transaction, revision) !== undefined;
        const ready = finish(prepared.prepare(transaction, revision, editedAtOnce));
        expect(ready === undefined || prepared.holds(ready, revision)).toBe(true);
        expect(prepared.apply(transaction, revision, ready) !== undefined).toBe(applied);
        // Indexes that somebody asked for exist from then on.
        if (isLookedAt) expect(seenIn(prepared, revision)).toEqual(seenIn(plain, revision));
      }
      expect(seenIn(prepared, script.length)).toEqual(seenIn(plain, script.length));
    }),
    tries,
  );
});

describe("what was prepared", () => {
  const base = (...puts: readonly Resource[]): Transaction => ({ changes: [{ layer: "base", puts }] });
  const prepare = (layers: LayerSet<object>, transaction: Transaction, revision: number): PreparedTransaction => {
    const ready = finish(layers.prepare(transaction, revision, 1));
    if (ready === undefined) throw new Error("expected something prepared, got nothing");
    return ready;
  };
  const [a, b] = [resource(CLUSTER, "a", "1"), resource(CLUSTER, "b", "1")];

  test("is not seen before it takes effect", () => {
    const layers = layerSet();
    layers.apply(base(a), 1);
    const before = seenIn(layers, 1);
    finish(layers.prepare(base(b), 2, 1));
    expect(seenIn(layers, 1)).toEqual(before);
  });

  test.each([
    [
      "another change of the table",
      (layers: LayerSet<object>) => layers.apply(base(resource(CLUSTER, "a", "2")), 2),
      3,
    ],
    [
      "a type version",
      (layers: LayerSet<object>) =>
        layers.apply({ changes: [{ layer: "base", typeVersions: new Map([[CLUSTER, "own"]]) }] }, 2),
      2,
    ],
    ["another revision", () => undefined, 3],
  ])("does not hold any more after %s", (_, meanwhile, revision) => {
    const layers = layerSet();
    layers.apply(base(a), 1);
    const ready = prepare(layers, base(b), 2);
    meanwhile(layers);
    expect(layers.holds(ready, revision)).toBe(false);
  });

  test("does not hold any more if its layer appeared meanwhile", () => {
    const layers = layerSet();
    const ready = prepare(layers, base(b), 1);
    layers.apply(base(a), 1);
    expect(layers.holds(ready, 1)).toBe(false);
  });

  test("leaves the lines of the journal to be added, and nothing for what the table holds besides", () => {
    const stepsOf = (held: number, edits: number): number => {
      const layers = layerSet();
      const list = (count: number, label: string) =>
        Array.from({ length: count }, (_, i) => resource(CLUSTER, `c${i}`, label));
      layers.apply(base(...list(held, "1")), 1);
      const transaction = base(...list(edits, "2"));
      const ready = prepare(layers, transaction, 2);
      return new Work().of(() => layers.apply(transaction, 2, ready));
    };
    const [steps, ofMoreEdits, ofMoreHeld] = [stepsOf(100, 100), stepsOf(100, 200), stepsOf(500, 100)];
    expect([ofMoreEdits - steps, ofMoreHeld - steps]).toEqual([200, 0]);
  });
});
