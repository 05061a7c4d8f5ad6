import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { CLUSTER, resource } from "../../../test/support/resources.ts";
import type { InitialVersions, ListedVersion, VersionCursor } from "../../message/request.ts";
import { type Constraints, canonicalConstraints } from "../../resource/constraints.ts";
import type { Resource } from "../../resource/resource.ts";
import { locatedTerm, shownName } from "../../resource/variant-name.ts";
import { LayerSet } from "../../state/layer-set.ts";
import type { View } from "../../state/view.ts";
import { Subscription } from "../subscription/subscription.ts";
import { SharedCurrentPairs } from "./current-pairs.ts";
import { Comparison, type ComparisonOptions, mayBeHeldUnder } from "./resume.ts";

const GLOB = "xdstp://x/envoy.config.cluster.v3.Cluster/g";
const NAMES = ["a", "b", "c", `${GLOB}/m`, `${GLOB}/n`];
const TERMS = ["*", "a", "b", "c", "alias", `${GLOB}/*`, `${GLOB}/m`, "none"];

function initialVersions(pairs: readonly (readonly [string, string])[]): InitialVersions {
  return { size: pairs.length, key: undefined, [Symbol.iterator]: () => pairs[Symbol.iterator]() };
}

/** The pairs of several lists, by number; and how many were decoded. */
class Numbering {
  readonly #numbers = new Map<string, number>();
  decoded = 0;

  list(pairs: readonly (readonly [string, string])[]): InitialVersions {
    const read = (): VersionCursor => {
      let at = -1;
      const present = (): ListedVersion => pairs[at] ?? ["", ""];
      const next = (): boolean => ++at < pairs.length;
      const numberOf = (key: string): number => {
        if (!this.#numbers.has(key)) this.#numbers.set(key, this.#numbers.size);
        return this.#numbers.get(key) ?? 0;
      };
      const decode = (): ListedVersion => {
        this.decoded++;
        return present();
      };
      return {
        next,
        get number() {
          // Now and then a pair has none.
          return present()[1].endsWith("7") ? -1 : numberOf(present().join(" "));
        },
        get pair() {
          return decode();
        },
      };
    };
    return { ...initialVersions(pairs), numbered: { numbering: this, read } };
  }
}

function subscribed(...terms: readonly string[]): Subscription {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  subscription.replace(terms);
  return subscription;
}

/** A view of one layer, which is written one transaction after the other. */
class Written {
  readonly layers = new LayerSet<object>({ keepsBodies: () => false }, { lines: 1_000, bytes: 1e9 });
  readonly view: View = this.layers.viewOf(["base"]);
  revision = 0;

  constructor() {
    this.layers.watch(this.view, {});
  }

  apply(puts: readonly Resource[], deletes: readonly string[] = []): void {
    const change = { layer: "base", puts, deletes: deletes.map((name) => ({ type: CLUSTER, name })) };
    this.layers.apply({ changes: [change] }, ++this.revision);
  }

  trim(): void {
    this.layers.layer("base")?.table(CLUSTER)?.journal.trim(this.revision);
  }

  compare(asks: Subscription, holds: InitialVersions, options: Partial<ComparisonOptions> = {}): Comparison {
    const all = { trustsVersions: true, namesPerStep: 1, ...options };
    return new Comparison({ view: this.view, revision: this.revision }, CLUSTER, asks.scope, holds, all);
  }
}

function resultOf({ puts, removed, missing, newcomers }: Comparison): unknown {
  return {
    puts: [...puts].map(({ name, version }) => `${shownName(name)} ${version}`).sort(),
    removed: [...removed].map(shownName).sort(),
    missing: missing.map(shownName).sort(),
    newcomers: [...newcomers].map(shownName).sort(),
  };
}

describe("S-REC-09, S-REC-10: a comparison", () => {
  const one = fc.record({
    name: fc.constantFrom(...NAMES),
    label: fc.constantFrom("1", "2", undefined),
    hasAlias: fc.boolean(),
    onDemand: fc.boolean(),
  });
  const step = fc.oneof(
    fc.record({ kind: fc.constant("write" as const), changes: fc.array(one, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant("compare" as const), steps: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant("trim" as const) }),
  );
  const script = fc.record({
    first: fc.array(one, { maxLength: 6 }),
    terms: fc.oneof(
      fc.uniqueArray(fc.constantFrom("a", "b", "c", "alias", "none"), { maxLength: 4 }),
      fc.uniqueArray(fc.constantFrom(...TERMS), { maxLength: 4 }),
    ),
    holds: fc.oneof(
      fc.constant<[string, string][]>([]),
      fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES, "gone"), fc.constantFrom<string[]>("1", "2")), {
        selector: ([name]) => name,
      }),
    ),
    trustsVersions: fc.boolean(),
    steps: fc.array(step, { maxLength: 8 }),
  });
  const isAlias = (name: string): boolean => name === "c";

  function write(written: Written, changes: readonly (typeof one extends fc.Arbitrary<infer T> ? T : never)[]): void {
    const last = new Map(changes.map((change) => [change.name, change]));
    const puts = [...last.values()].flatMap(({ name, label, hasAlias, onDemand }) => {
      const aliases = hasAlias && isAlias(name) ? ["alias"] : [];
      return label === undefined ? [] : [resource(CLUSTER, name, label, { aliases, onDemand })];
    });
    const deletes = [...last.values()].flatMap(({ name, label }) => (label === undefined ? [name] : []));
    written.apply(puts, deletes);
  }

  /** The same, from the state at the end alone. */
  function expected(
    view: View,
    terms: readonly string[],
    listed: ReadonlyMap<string, string>,
    trusts: boolean,
  ): unknown {
    const names = new Set(terms);
    const isAll = names.delete("*");
    const globOf = (name: string): string => (name.startsWith(GLOB) ? `${GLOB}/*` : name);
    const isNamed = (name: string): boolean => names.has(name) || names.has(globOf(name));
    const covers = ({ name, aliases, onDemand }: Resource): boolean =>
      (isAll && !onDemand) || isNamed(name) || aliases.some((alias) => names.has(alias));
    const covered = [...view.members(CLUSTER)].filter(covers);
    const puts = covered.filter(({ name, version }) => !trusts || listed.get(name) !== version);
    const there = new Set(covered.map(({ name }) => name));
    return {
      puts: puts.map(({ name, version }) => `${name} ${version}`).sort(),
      removed: [...listed.keys()].filter((name) => !there.has(name) && (isAll || isNamed(name))).sort(),
      missing: [...names].filter((term) => view.answersTo(CLUSTER, term).length === 0 && !listed.has(term)).sort(),
      newcomers: puts.flatMap(({ name }) => (listed.has(name) ? [] : [name])).sort(),
    };
  }

  test("has the result of the state at its last step, whatever was committed meanwhile", () => {
    fc.assert(
      fc.property(script, ({ first, terms, holds, trustsVersions, steps }) => {
        const written = new Written();
        write(written, first);
        const pairs = holds.map(([name, label]) => [name, resource(CLUSTER, name, label).version] as const);
        const comparison = written.compare(subscribed(...terms), initialVersions(pairs), { trustsVersions });
        for (const each of steps) {
          if (comparison.isDone) break;
          if (each.kind === "write") write(written, each.changes);
          else if (each.kind === "trim") written.trim();
          else for (let i = 0; i < each.steps; i++) comparison.step(written.revision);
        }
        while (!comparison.isDone) comparison.step(written.revision);
        const at = comparison.isDoneAt(written.revision);
        expect([at, at ? resultOf(comparison) : "done before"]).toEqual([
          at,
          at ? expected(written.view, terms, new Map(pairs), trustsVersions) : "done before",
        ]);
      }),
      { numRuns: 500 },
    );
  });

  test("has the same result if others found out before what is current", () => {
    const listed = fc.array(fc.tuple(fc.constantFrom(...NAMES, "gone"), fc.constantFrom("1", "2")), { maxLength: 8 });
    const turn = fc.record({ list: listed, changes: fc.array(one, { maxLength: 2 }), at: fc.nat(6) });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 6 }), fc.array(turn, { maxLength: 6 }), (first, turns) => {
        const written = new Written();
        const numbering = new Numbering();
        const shared = new SharedCurrentPairs();
        write(written, first);
        for (const { list, changes, at } of turns) {
          const pairs = list.map(([name, label]) => [name, resource(CLUSTER, name, label).version] as const);
          const knowing = written.compare(subscribed("*"), numbering.list(pairs), {
            currentPairs: shared.of(numbering, "*"),
          });
          const alone = written.compare(subscribed("*"), initialVersions(pairs));
          for (let steps = 0; !alone.isDone; steps++) {
            if (steps === at) {
              write(written, changes);
              shared.clear();
            }
            alone.step(written.revision);
            knowing.step(written.revision);
          }
          expect([knowing.isDone, resultOf(knowing)]).toEqual([true, resultOf(alone)]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("decodes a pair that many list once, in whatever order, and again after a change", () => {
    const written = new Written();
    const all = Array.from({ length: 100 }, (_, i) => resource(CLUSTER, `c${i}`, "1"));
    written.apply(all);
    const pairs = all.map(({ name, version }) => [name, version] as const);
    const numbering = new Numbering();
    const shared = new SharedCurrentPairs();
    const decodedBy = (list: readonly (readonly [string, string])[]): unknown => {
      const before = numbering.decoded;
      const currentPairs = shared.of(numbering, "*");
      const comparison = written.compare(subscribed("*"), numbering.list(list), { namesPerStep: 1_000, currentPairs });
      comparison.step(written.revision);
      return [numbering.decoded - before, resultOf(comparison)];
    };
    const nothing = { puts: [], removed: [], missing: [], newcomers: [] };
    const unnumbered = pairs.filter(([, version]) => version.endsWith("7")).length;
    expect([decodedBy(pairs), decodedBy([...pairs].reverse()), decodedBy(pairs.slice(1))]).toEqual([
      [100, nothing],
      [unnumbered, nothing],
      [unnumbered, { ...nothing, puts: [`c0 ${all[0]?.version}`], newcomers: ["c0"] }],
    ]);
    const now = resource(CLUSTER, "c5", "2");
    written.apply([now]);
    shared.clear();
    expect(decodedBy(pairs)).toEqual([100, { ...nothing, puts: [`c5 ${now.version}`] }]);
  });

  test("sends what was listed, did not exist when it was compared, and exists at the end", () => {
    const written = new Written();
    const a = resource(CLUSTER, "a", "2");
    const comparison = written.compare(subscribed("a"), initialVersions([["a", "old"]]));
    comparison.step(written.revision);
    written.apply([a]);
    while (!comparison.isDone) comparison.step(written.revision);
    expect(resultOf(comparison)).toEqual({ puts: [`a ${a.version}`], removed: [], missing: [], newcomers: [] });
  });

  test("is for the subscription that it was made for, without parameters", () => {
    const written = new Written();
    written.apply([resource(CLUSTER, "a", "1")]);
    const asks = subscribed("a");
    const comparison = written.compare(asks, initialVersions([]));
    expect([comparison.isFor(asks), comparison.isFor(subscribed("a")), comparison.isFor(subscribed("*"))]).toEqual([
      true,
      false,
      false,
    ]);
    comparison.step(1);
    expect([comparison.isDoneAt(1), comparison.isDone]).toEqual([false, false]);
    comparison.step(1);
    expect([comparison.isDoneAt(1), comparison.isDoneAt(2), comparison.isDone]).toEqual([true, false, true]);
    asks.speakOfParameters();
    expect(comparison.isFor(asks)).toBe(false);
  });

  test("client-behaviours E4: sends what may have expired at the client, even at an equal version", () => {
    const written = new Written();
    const [a, b] = [resource(CLUSTER, "a", "1"), resource(CLUSTER, "b", "1")];
    written.apply([{ ...a, ttlMs: 1000 }, b]);
    written.apply([a]);
    const holds = initialVersions([a, b].map(({ name, version }) => [name, version]));
    const putsOf = (ttls: ComparisonOptions["ttls"], ...terms: readonly string[]): unknown => {
      const comparison = written.compare(subscribed(...terms), holds, { namesPerStep: 100, ...(ttls && { ttls }) });
      comparison.step(written.revision);
      return [...comparison.puts].map(({ name }) => name);
    };
    expect([putsOf("told", "*"), putsOf("left-off", "*"), putsOf(undefined, "a", "b")]).toEqual([["a"], [], []]);
  });
});

describe("S-LOC-07: a comparison for a client that uses parameters", () => {
  const env = (value: string): Constraints => ({ kind: "value", key: "env", value });
  const variant = (name: string, value: string, label = "1"): Resource =>
    resource(CLUSTER, name, label, { constraints: canonicalConstraints(env(value)) });
  const at = (name: string, value?: string): string =>
    locatedTerm(name, new Map(value === undefined ? [] : [["env", value]]));

  function compared(asks: readonly string[], holds: Readonly<Record<string, string>>, ttlOf?: string): unknown {
    const written = new Written();
    const puts = [variant("a", "x"), variant("a", "y"), resource(CLUSTER, "plain", "1"), variant("only", "x")];
    written.apply(puts.map((put) => (put.variant?.name === ttlOf ? { ...put, ttlMs: 1000 } : put)));
    const subscription = subscribed();
    subscription.speakOfParameters();
    subscription.replace(asks);
    const comparison = written.compare(subscription, initialVersions(Object.entries(holds)), {
      namesPerStep: 100,
      ...(ttlOf !== undefined && { ttls: "told" }),
    });
    comparison.step(1);
    return resultOf(comparison);
  }

  const version = (one: Resource): string => one.version;
  const [ax, ay] = [variant("a", "x"), variant("a", "y")];
  const nothing = { puts: [], removed: [], missing: [], newcomers: [] };

  test("sends nothing of what it holds, known by its version, and what it lacks", () => {
    const plain = resource(CLUSTER, "plain", "1");
    expect(compared([at("a", "x"), at("plain")], { a: version(ax), plain: version(plain) })).toEqual(nothing);
    expect(compared([at("a", "x"), at("plain", "z")], { a: version(ay) })).toEqual({
      ...{ removed: [], missing: [] },
      puts: [`a [env = "x"] ${version(ax)}`, `plain ${version(plain)}`],
      newcomers: ["plain"],
    });
  });

  test("removes what it lists and does not get, for the parameters that it subscribed with", () => {
    expect(compared([at("a", "z"), at("only", "x")], { only: version(variant("only", "x")), a: version(ax) })).toEqual({
      ...nothing,
      missing: ["a {env=z}"],
    });
    expect(compared([at("*", "y")], { only: version(variant("only", "x")), a: version(ay) })).toEqual({
      ...nothing,
      puts: [`plain ${version(resource(CLUSTER, "plain", "1"))}`],
      removed: ["only {env=y}"],
      newcomers: ["plain"],
    });
    expect(compared([at("a", "x")], { a: version(ax), other: "1" })).toEqual(nothing);
  });

  test("under a wildcard from before it used parameters removes only what has no variant at all", () => {
    const written = new Written();
    const hidden = resource(CLUSTER, "hidden", "1", { onDemand: true });
    written.apply([ax, ay, resource(CLUSTER, "plain", "1"), hidden]);
    const subscription = new Subscription({ legacyWildcard: true, wildcardSticky: false });
    subscription.replace([]);
    subscription.speakOfParameters();
    const lists = { a: version(ax), gone: "1", plain: "old", hidden: version(hidden) };
    const comparison = written.compare(subscription, initialVersions(Object.entries(lists)), { namesPerStep: 100 });
    comparison.step(1);
    expect([subscription.isWildcard, resultOf(comparison)]).toEqual([
      true,
      {
        ...nothing,
        puts: [`plain ${version(resource(CLUSTER, "plain", "1"))}`],
        removed: ["a", "gone", "hidden"],
      },
    ]);
  });

  test("under a wildcard removes what is gone, and compares the rest", () => {
    const plain = resource(CLUSTER, "plain", "1");
    expect(compared(["*"], { a: version(ax), gone: "1", plain: "old" })).toEqual({
      ...nothing,
      puts: [`plain ${version(plain)}`],
      removed: ["a", "gone"],
    });
  });

  test("finds no more removals than a client may be sent, and reads each of its terms once", () => {
    const values = Array.from({ length: 50 }, (_, index) => `${index}`);
    const gone = values.map((value) => `gone-${value}`);
    const terms = [...values.map((value) => at("*", value)), at("gone-0", "0")];
    const subscription = subscribed();
    subscription.speakOfParameters();
    subscription.replace(terms);
    const listed = initialVersions(gone.map((name) => [name, "1"]));
    const removedOf = (maxRemoved: number | undefined): readonly [number, boolean, number] => {
      const comparison = new Written().compare(subscription, listed, { namesPerStep: 100, maxRemoved });
      const parse = vi.spyOn(JSON, "parse");
      comparison.step(0);
      const parsed = parse.mock.calls.length;
      parse.mockRestore();
      return [[...comparison.removed].length, comparison.isCutShort, parsed];
    };
    // The view reads each term, and so do the locators of the subscription, the first time.
    expect([removedOf(undefined), removedOf(2_499), removedOf(100)]).toEqual([
      [2_499, false, 2 * terms.length],
      [2_499, false, terms.length],
      [101, true, terms.length],
    ]);
  });

  test("sends what may have expired at the client, even at an equal version", () => {
    expect(compared([at("a", "x")], { a: version(ax) }, "a")).toEqual({
      ...nothing,
      puts: [`a [env = "x"] ${version(ax)}`],
    });
  });
});

test("a name may be held that is subscribed to, or shares a collection of its type with a term", () => {
  const collectionOf = (name: string): string | undefined => (name.includes("/") ? name.split("/")[0] : undefined);
  const terms = { collectionOf, broader: () => [], isBroad: () => false, canMatch: () => true };
  const rules = { legacyWildcard: false, wildcardSticky: false };
  const held = (asks: readonly string[], hasTerms: boolean): readonly boolean[] => {
    const subscription = new Subscription(hasTerms ? { ...rules, terms: terms as never } : rules);
    subscription.replace(asks);
    return ["a", "r/x", "r/y", "s/x"].map(mayBeHeldUnder(subscription.scope));
  };
  expect([held(["*"], true), held(["a", "r/x"], true), held(["a", "r/x"], false)]).toEqual([
    [true, true, true, true],
    [true, true, true, false],
    [true, true, false, false],
  ]);
});
