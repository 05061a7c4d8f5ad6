import { describe, expect, test } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER, resource } from "../../../test/support/resources.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Past } from "../../state/journal.ts";
import { Names } from "../subscription/names.ts";
import type { Scope } from "../subscription/subscription.ts";
import {
  noPendingRemovals,
  type PendingRemoval,
  PendingRemovals,
  partAt,
  stepFrom,
  withhold,
} from "./pending-removals.ts";

const everything: Scope = { isWildcard: true, names: Names.none, terms: undefined, termsFor: () => [] };
const some = (...names: readonly string[]): Scope => ({
  ...everything,
  isWildcard: false,
  names: Names.of(new Set(names)),
});
const [a, b, c] = [cluster("a", "1"), cluster("b", "1"), cluster("c", "1")];
const held = (names: Record<string, number>, was: Past | undefined = undefined): PendingRemovals =>
  new PendingRemovals(
    new Map(
      Object.entries(names).map(([name, since]): [string, PendingRemoval] => [
        name,
        was === undefined ? { since } : { was, since },
      ]),
    ),
  );
const sinceOf = ({ names }: PendingRemovals): unknown => [...names].map(([name, { since }]) => [name, since]);
const at: Parameters<typeof stepFrom>[3] = { revision: 9, goesAtOnce: undefined };
const both = { before: everything, after: everything };

describe("S-ORD-05: clusters that a client still holds", () => {
  test("are known by their oldest and newest deletion, their content and its sum", () => {
    const set = new PendingRemovals(
      new Map([
        ["a", { was: a, since: 3 }],
        ["b", { was: b, since: 5 }],
        ["c", { since: 4 }],
      ]),
    );
    expect([set.oldest, set.newest, set.sum, set.segment.puts, set.isEmpty]).toEqual([
      3,
      5,
      (a.sum + b.sum) % 2n ** 128n,
      [a, b],
      false,
    ]);
    expect([noPendingRemovals.oldest, noPendingRemovals.newest, noPendingRemovals.isEmpty]).toEqual([
      Number.POSITIVE_INFINITY,
      0,
      true,
    ]);
  });

  test("count as deleted anew if they existed meanwhile, and are forgotten one by one", () => {
    const set = held({ a: 1, b: 2 });
    expect(sinceOf(set.deletedAt((name) => name === "a", 7))).toEqual([
      ["a", 7],
      ["b", 2],
    ]);
    expect(set.deletedAt(() => false, 7)).toBe(set);
    expect(sinceOf(set.without((name) => name === "a"))).toEqual([["b", 2]]);
    expect(set.without(() => false)).toBe(set);
    expect(set.without(() => true)).toBe(noPendingRemovals);
    expect(noPendingRemovals.without(() => true)).toBe(noPendingRemovals);
  });

  test("may go in the order of their deletion", () => {
    const set = held({ a: 1, b: 2, c: 3 });
    const parts = [0, 2, 3].map((revision) => partAt(set, revision));
    expect(parts.map(({ goes }) => goes)).toEqual([[], ["a", "b"], ["a", "b", "c"]]);
    expect([parts[0]?.stays === set, sinceOf(parts[1]?.stays ?? set), parts[2]?.stays === noPendingRemovals]).toEqual([
      true,
      [["c", 3]],
      true,
    ]);
  });
});

describe("S-ORD-05: after a difference the client still holds", () => {
  const step = (
    before: PendingRemovals,
    changes: readonly (readonly [name: string, then?: Past | undefined, now?: typeof a])[],
    how = at,
    scopes = both,
  ): unknown => {
    const full = changes.map(([name, then, now]) => ({ name, then, now }));
    const { pendingRemovals, hasPuts } = stepFrom(before, full, scopes, how);
    return [sinceOf(pendingRemovals), hasPuts, pendingRemovals === before];
  };

  test("S-LOC-07: nothing of a variant that another one replaced", () => {
    const variant = (value: string): Resource =>
      resource(CLUSTER, "v", value, { constraints: { kind: "value", key: "env", value } });
    const [x, y] = [variant("x"), { ...variant("y"), onDemand: false }];
    expect(step(held({ [x.name]: 1, a: 1 }), [[y.name, undefined, y]])).toEqual([[["a", 1]], true, false]);
  });

  test("what is gone, since this revision, or since ever if it may go at once", () => {
    expect(step(noPendingRemovals, [["a", a]])).toEqual([[["a", 9]], false, false]);
    expect(step(held({ a: 3 }), [["a", a]])).toEqual([[["a", 3]], false, true]);
    const goesAtOnce = (name: string): boolean => name === "a";
    const how = { revision: 9, goesAtOnce };
    expect(
      step(
        noPendingRemovals,
        [
          ["a", a],
          ["b", b],
        ],
        how,
      ),
    ).toEqual([
      [
        ["a", Number.NEGATIVE_INFINITY],
        ["b", 9],
      ],
      false,
      false,
    ]);
  });

  test("nothing that it did not subscribe to, or does no longer", () => {
    const gone = [["a", a]] as const;
    expect(step(noPendingRemovals, gone, at, { before: some("b"), after: some("a", "b") })).toEqual([[], false, true]);
    expect(step(noPendingRemovals, gone, at, { before: some("a"), after: some("b") })).toEqual([[], false, true]);
    expect(step(noPendingRemovals, gone, at, { before: some("a"), after: some("a") })).toEqual([
      [["a", 9]],
      false,
      false,
    ]);
  });

  test("not what is there again, which is new to it unless it is as the client holds it", () => {
    expect(step(held({ a: 3 }, a), [["a", undefined, a]])).toEqual([[], false, false]);
    expect(step(held({ a: 3 }, a), [["a", undefined, cluster("a", "2")]])).toEqual([[], true, false]);
    expect(step(held({ a: 3 }), [["a", undefined, a]])).toEqual([[], true, false]);
    expect(step(noPendingRemovals, [["b", b, b]])).toEqual([[], false, true]);
    expect(step(noPendingRemovals, [["b", b, b]], at, { before: some("c"), after: some("b") })).toEqual([
      [],
      true,
      true,
    ]);
    expect(
      step(noPendingRemovals, [
        ["b", undefined, b],
        ["c", c, c],
      ]),
    ).toEqual([[], true, true]);
  });
});

describe("S-ORD-05: a delta response", () => {
  const body = (segment: Partial<Segment>): Body => ({
    variant: "delta",
    type: CLUSTER,
    version: "v",
    segments: [{ puts: [], removed: [], missing: [], ...segment }],
  });
  const removable = (
    to: number,
    goesAtOnce?: (name: string) => boolean,
  ): { to: number; namedTo: number; goesAtOnce: typeof goesAtOnce } => ({ to, namedTo: to, goesAtOnce });
  const split = (given: Body, before: PendingRemovals, how: Partial<Parameters<typeof withhold>[2]> = {}): unknown => {
    const made = withhold(given, before, { revision: 9, removable: removable(-1), ...how });
    return [
      sinceOf(made.pendingRemovals),
      made.body.segments.map(({ puts, removed }) => [
        ...puts.map(({ name }) => name),
        ...removed.map((name) => `-${name}`),
      ]),
    ];
  };

  test("goes without removals that have to wait, unless they answer a request", () => {
    expect(split(body({ puts: [c], removed: ["a", "b"] }), noPendingRemovals)).toEqual([
      [
        ["a", 9],
        ["b", 9],
      ],
      [["c"]],
    ]);
    expect(split(body({ removed: ["a", "b"] }), held({ a: 3 }), { asked: new Set(["a"]) })).toEqual([
      [["b", 9]],
      [["-a"]],
    ]);
    expect(split(body({ removed: ["a"] }), held({ a: 3 }))).toEqual([[["a", 3]], [[]]]);
  });

  test("brings the removals that are due", () => {
    expect(split(body({ puts: [c] }), held({ a: 3, b: 5 }), { removable: removable(4) })).toEqual([
      [["b", 5]],
      [["c"], ["-a"]],
    ]);
    const how = { removable: removable(-1, (name) => name === "a") };
    expect(split(body({ removed: ["a", "b"] }), noPendingRemovals, how)).toEqual([[["b", 9]], [[], ["-a"]]]);
  });

  test("takes back the removal of what it brings, and remembers what was there with a TTL", () => {
    expect(split(body({ puts: [a] }), held({ a: 3, b: 5 }))).toEqual([[["b", 5]], [["a"]]]);
    const { pendingRemovals } = withhold(body({ removed: ["a", "b"] }), noPendingRemovals, {
      revision: 9,
      removable: removable(-1),
      pastOf: (name) => (name === "a" ? a : undefined),
    });
    expect([...pendingRemovals.names]).toEqual([
      ["a", { was: a, since: 9 }],
      ["b", { since: 9 }],
    ]);
  });
});
