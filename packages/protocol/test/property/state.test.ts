import type { Resource } from "@xdskit/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Constraints, canonicalConstraints, matches, noParameters } from "../../src/resource/constraints.ts";
import { addSums, formatVersion } from "../../src/resource/version.ts";
import { differenceBetween, type Position, touchedSince, wasTouched } from "../../src/state/difference.ts";
import { isRetargeted } from "../../src/state/journal.ts";
import { LayerSet } from "../../src/state/layer-set.ts";
import type { View } from "../../src/state/view.ts";
import { CLUSTER, ENDPOINTS, failure, resource } from "../support/resources.ts";

const GLOB = "xdstp://x/envoy.config.cluster.v3.Cluster/g";
const NAMES = ["a", "b", `${GLOB}/m`, "v"];
const VIEWS = [["top", "base"], ["base"], ["other", "top", "base"], ["top", "other"]];

const env = (value: string): Constraints => ({ kind: "value", key: "env", value });
const variantsOfV: readonly Constraints[] = [
  env("x"),
  env("y"),
  { kind: "not", of: { kind: "exists", key: "env" } },
].map((one) => canonicalConstraints(one as Constraints));

const change = fc.record({
  layer: fc.constantFrom("top", "base", "other"),
  name: fc.constantFrom(...NAMES),
  what: fc.constantFrom("1", "2", "deleted", "error"),
  variant: fc.nat(2),
  onDemand: fc.boolean(),
  hasAlias: fc.boolean(),
  ttlMs: fc.constantFrom(undefined, undefined, 1_000, 2_000),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** Of the name v the layer at the top has plain resources, and the others have variants. */
function constraintsOf({ layer, name, variant }: Change): Constraints | undefined {
  return name === "v" && layer !== "top" ? variantsOfV[variant] : undefined;
}

const made = new Map<string, Resource>();

function resourceOf(one: Change): Resource {
  const key = JSON.stringify(one);
  const known = made.get(key) ?? make(one);
  made.set(key, known);
  return known;
}

function make(one: Change): Resource {
  const constraints = constraintsOf(one);
  const { name, what, onDemand, hasAlias, ttlMs } = one;
  if (what === "error" && constraints === undefined) return failure(CLUSTER, name, 13);
  const aliases = hasAlias ? ["alias", `alias of ${name}`] : [];
  const references = what === "1" ? [{ type: ENDPOINTS, name }] : [];
  return resource(CLUSTER, name, what, {
    ...{ onDemand, aliases, references },
    ...(ttlMs !== undefined && { ttlMs }),
    ...(constraints !== undefined && { constraints }),
  });
}

/** What each layer holds, by key; and what a list of layers shows of it, found by looking through all. */
class Model {
  readonly layers = new Map<string, ReadonlyMap<string, Resource>>();

  apply(changes: readonly Change[]): void {
    for (const one of changes) {
      const held = new Map(this.layers.get(one.layer));
      const made = resourceOf(one);
      if (one.what === "deleted") held.delete(made.name);
      else held.set(made.name, made);
      this.layers.set(one.layer, held);
    }
  }

  /** The top-most layer that has a name, in any variant, decides what is shown of it. */
  shown(names: readonly string[]): Shown {
    const entries = new Map<string, Resource>();
    for (const name of NAMES) {
      const deciding = names.map((layer) => this.#under(layer, name)).find((held) => held.length > 0) ?? [];
      for (const one of deciding) entries.set(one.name, one);
      const fitting = deciding.find(({ variant }) => variant && matches(variant.constraints, noParameters));
      if (fitting?.variant !== undefined) entries.set(name, { ...fitting, name, onDemand: fitting.variant.onDemand });
    }
    return new Shown(entries);
  }

  #under(layer: string, name: string): readonly Resource[] {
    return [...(this.layers.get(layer)?.values() ?? [])].filter((one) => (one.variant?.name ?? one.name) === name);
  }
}

/** What a view shows, by name and variant key. */
class Shown {
  readonly entries: ReadonlyMap<string, Resource>;

  constructor(entries: ReadonlyMap<string, Resource>) {
    this.entries = entries;
  }

  get resources(): readonly Resource[] {
    return [...this.entries.values()].filter(({ error }) => error === undefined);
  }

  holder(name: string): Resource | undefined {
    return this.resources.find((one) => one.name === name);
  }

  /** What a wildcard covers: variants are covered by the entry of their name. */
  get covered(): readonly Resource[] {
    return this.resources.filter(({ name, onDemand }) => NAMES.includes(name) && !onDemand);
  }

  get sum(): bigint {
    // What is shown under the name of variants is one of them.
    const counted = [...this.entries.values()].filter(
      ({ name, variant }) => variant === undefined || name !== variant.name,
    );
    return counted.reduce((sum, one) => addSums(sum, one.sum), 0n);
  }
}

const inShort = (one: Pick<Resource, "name" | "version"> | undefined): string => `${one?.name} ${one?.version}`;
const sorted = (some: Iterable<string>): readonly string[] => [...some].sort();

/** Clusters in three layers, and a model of them, at each revision so far. */
class World {
  readonly layers = new LayerSet<object>({ keepsBodies: () => false }, { lines: 10_000, bytes: 1e9 });
  readonly views: readonly View[] = VIEWS.map((names) => this.#watched(names));
  readonly model = new Model();
  readonly before: (readonly Shown[])[] = [];
  revision = 0;

  constructor() {
    this.before.push(this.shown);
  }

  #watched(names: readonly string[]): View {
    const view = this.layers.viewOf(names);
    this.layers.watch(view, {});
    return view;
  }

  get shown(): readonly Shown[] {
    return VIEWS.map((names) => this.model.shown(names));
  }

  apply(changes: readonly Change[]): void {
    this.revision++;
    this.model.apply(changes);
    this.layers.apply(
      {
        changes: changes.map((one) => {
          const constraints = constraintsOf(one);
          const deletion = { type: CLUSTER, name: one.name, ...(constraints !== undefined && { constraints }) };
          return one.what === "deleted"
            ? { layer: one.layer, deletes: [deletion] }
            : { layer: one.layer, puts: [resourceOf(one)] };
        }),
      },
      this.revision,
    );
    this.before.push(this.shown);
  }

  at(view: number, revision: number): Position {
    return { view: this.views[view] ?? this.layers.viewOf([]), revision };
  }
}

/** What a view says, and what the model says of the same. */
function compareView(view: View, shown: Shown): readonly [unknown, unknown] {
  const names = [...NAMES, ...shown.entries.keys(), "none"];
  const timed = shown.resources.filter(
    ({ ttlMs, variant, name }) => ttlMs !== undefined && (variant === undefined || NAMES.includes(name)),
  );
  const members = sorted(shown.resources.map(inShort));
  const errors = [...shown.entries.values()].filter(({ error }) => error !== undefined);
  return [
    {
      holders: names.map((name) => inShort(view.holder(CLUSTER, name))),
      members: sorted([...view.members(CLUSTER)].map(inShort)),
      errors: sorted(view.errors(CLUSTER).keys()),
      each: names.map((name) => view.error(CLUSTER, name)?.error?.code),
      covered: view.coveredBy(CLUSTER),
      whole: sorted(view.whole(CLUSTER).flatMap(({ puts }) => puts.map(inShort))),
      within: sorted([...view.within(CLUSTER, `${GLOB}/*`)].map(inShort)),
      timed: sorted(
        view
          .timed(CLUSTER)
          .resources.filter(({ variant }) => variant === undefined)
          .map(inShort),
      ),
      refers: NAMES.map(
        (name) =>
          view.refersTo(ENDPOINTS, name) ||
          !shown.resources.some(({ references }) => references.some((one) => one.name === name)),
      ),
      version: shown.entries.size === 0 || view.typeVersion(CLUSTER),
    },
    {
      holders: names.map((name) => inShort(shown.holder(name))),
      members,
      errors: sorted(errors.map(({ name }) => name)),
      each: names.map((name) => errors.find((one) => one.name === name)?.error?.code),
      covered: shown.covered.length,
      whole: sorted(shown.covered.map(inShort)),
      within: members.filter((one) => one.startsWith(GLOB)),
      timed: sorted(timed.filter(({ name }) => NAMES.includes(name)).map(inShort)),
      refers: NAMES.map(() => true),
      version: shown.entries.size === 0 || formatVersion(shown.sum),
    },
  ];
}

test("a view shows the top-most holder of each name, however the layers came about", () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 10 }), (transactions) => {
      const world = new World();
      for (const changes of transactions) {
        world.apply(changes);
        for (const [i, view] of world.views.entries()) {
          const [is, expected] = compareView(view, world.shown[i] ?? new Shown(new Map()));
          expect(is).toEqual(expected);
        }
      }
    }),
    { numRuns: 40 },
  );
});

/** What a client that has everything of the one state is told of the other. */
function compareDifference(from: Shown, now: Shown, ttls: "told" | "left-off"): unknown {
  const isSame = (a: Resource | undefined, b: Resource | undefined): boolean =>
    a?.version === b?.version && a?.content === b?.content && (ttls === "left-off" || a?.ttlMs === b?.ttlMs);
  const keys = new Set([...from.entries.keys(), ...now.entries.keys()]);
  const changes: string[] = [];
  const puts: string[] = [];
  const removed: string[] = [];
  for (const key of keys) {
    const [then, is] = [from.holder(key), now.holder(key)];
    const [was, covered] = [then?.onDemand === false, is?.onDemand === false];
    if (!isSame(then, is) || then?.onDemand !== is?.onDemand) changes.push(key);
    if (is !== undefined && covered && !(was && isSame(then, is))) puts.push(inShort(is));
    if (was && !covered) removed.push(key);
  }
  return { changes: sorted(changes), puts: sorted(puts), removed: sorted(removed) };
}

test("a difference is what the two states differ in, in one view or between two, at any revision", () => {
  const pair = fc.record({
    from: fc.nat(3),
    to: fc.nat(3),
    back: fc.nat(4),
    ttls: fc.constantFrom("told", "left-off"),
  });
  fc.assert(
    fc.property(
      fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
      fc.array(pair, { minLength: 4, maxLength: 8 }),
      (transactions, pairs) => {
        const world = new World();
        for (const changes of transactions) world.apply(changes);
        const nothing = new Shown(new Map());
        for (const { from, to, back, ttls } of pairs) {
          const revision = Math.max(0, world.revision - back);
          const position = world.at(from, revision);
          const { view } = world.at(to, 0);
          const difference = differenceBetween(position, view, CLUSTER, ttls as "told");
          expect({
            changes: sorted(difference.changes.map(({ name }) => name)),
            puts: sorted(difference.segments.flatMap(({ puts }) => puts.map(inShort))),
            removed: sorted(difference.segments.flatMap(({ removed }) => removed)),
          }).toEqual(
            compareDifference(world.before[revision]?.[from] ?? nothing, world.shown[to] ?? nothing, ttls as "told"),
          );
          const retargeted = difference.changes.filter(({ then, now }) => isRetargeted(then, now));
          if (difference.retargeted !== undefined)
            expect(sorted([...difference.retargeted])).toEqual(sorted(retargeted.map(({ name }) => name)));
          const touched = touchedSince(position, view, CLUSTER) ?? new Set();
          expect(difference.changes.filter(({ name }) => !touched.has(name))).toEqual([]);
          if (from === to)
            expect(NAMES.map((name) => wasTouched(position, view, CLUSTER, name))).toEqual(
              NAMES.map((name) => touched.has(name)),
            );
        }
      },
    ),
    { numRuns: 80 },
  );
});
