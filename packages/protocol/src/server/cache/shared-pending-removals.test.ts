import { describe, expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { Body } from "../../message/body.ts";
import type { Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import { NameSets } from "../subscription/name-set.ts";
import { Subscription } from "../subscription/subscription.ts";
import { noPendingRemovals, type PendingRemoval, PendingRemovals, type Removable } from "./pending-removals.ts";
import { SharedChanges } from "./shared-changes.ts";
import { SharedPendingRemovals } from "./shared-pending-removals.ts";

function held(names: Record<string, number>): PendingRemovals {
  return new PendingRemovals(
    new Map(Object.entries(names).map(([name, since]): [string, PendingRemoval] => [name, { since }])),
  );
}

function subscribed(...names: readonly string[]): Subscription {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  subscription.replace(names);
  return subscription;
}

const sinceOf = ({ names }: PendingRemovals): unknown => [...names].map(([name, { since }]) => [name, since]);
const upTo = (to: number, goesAtOnce?: Removable["goesAtOnce"]): Removable => ({ to, namedTo: to, goesAtOnce });
const bodyOf = (...removed: readonly string[]): Body => ({
  variant: "delta",
  type: CLUSTER,
  version: "v",
  segments: [{ puts: [], removed, missing: [] }],
});

/** Clusters a and b at revision 1, of which b is deleted at revision 2, the present one. */
function deleted(): { readonly shared: SharedPendingRemovals; readonly view: View; readonly from: Position } {
  const base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1")]);
  const view = viewOf(base);
  const shared = new SharedPendingRemovals(new SharedChanges("left-off"), new NameSets(), "left-off");
  base.delete(2, "b");
  shared.advance(2);
  return { shared, view, from: { view, revision: 1 } };
}

describe("S-ORD-05: the pending removals after a difference", () => {
  test("are one object for clients with the same set, position and subscription", () => {
    const { shared, view, from } = deleted();
    const step = (before: PendingRemovals, goesAtOnce?: Removable["goesAtOnce"], ...names: readonly string[]) => {
      const subscription = subscribed(...(names.length === 0 ? ["*"] : names));
      return shared.step(before, from, view, { type: CLUSTER, subscription, asked: subscription.scope, goesAtOnce });
    };
    const [older] = [held({ c: 1 })];
    const first = step(noPendingRemovals);
    expect([sinceOf(first.pendingRemovals), first.hasPuts]).toEqual([[["b", 2]], false]);
    expect(step(noPendingRemovals)).toBe(first);
    expect(sinceOf(step(older).pendingRemovals)).toEqual([
      ["c", 1],
      ["b", 2],
    ]);
    expect(sinceOf(step(noPendingRemovals, undefined, "a").pendingRemovals)).toEqual([]);
    expect(sinceOf(step(noPendingRemovals, () => true).pendingRemovals)).toEqual([["b", Number.NEGATIVE_INFINITY]]);
    shared.advance(3);
    expect(sinceOf(step(noPendingRemovals).pendingRemovals)).toEqual([["b", 3]]);
  });

  test("are computed anew for a client whose subscription changed meanwhile", () => {
    const { shared, view, from } = deleted();
    const step = (asked: Subscription, subscription: Subscription): unknown =>
      sinceOf(
        shared.step(noPendingRemovals, from, view, {
          type: CLUSTER,
          subscription,
          asked: asked.scope,
          goesAtOnce: undefined,
        }).pendingRemovals,
      );
    const [all, both] = [subscribed("*"), subscribed("*", "b")];
    expect([step(all, all), step(subscribed("a"), all), step(subscribed("a"), both), step(both, both)]).toEqual([
      [["b", 2]],
      [],
      [],
      [["b", 2]],
    ]);
  });
});

describe("the pending removals of a client whose position advanced", () => {
  test("count as deleted now if they changed since, as they may have been in use again", () => {
    const { shared, view, from } = deleted();
    const set = held({ b: 1, c: 1 });
    const carried = shared.carryOver(set, from, view, CLUSTER);
    expect(sinceOf(carried)).toEqual([
      ["b", 2],
      ["c", 1],
    ]);
    expect(shared.carryOver(set, from, view, CLUSTER)).toBe(carried);
    expect(sinceOf(shared.carryOver(held({ b: 0 }), from, view, CLUSTER))).toEqual([["b", 2]]);
    expect(shared.carryOver(set, { view, revision: 2 }, view, CLUSTER)).toBe(set);
    expect(shared.carryOver(noPendingRemovals, from, view, CLUSTER)).toBe(noPendingRemovals);
    shared.advance(3);
    expect(sinceOf(shared.carryOver(set, from, view, CLUSTER))).toEqual([
      ["b", 3],
      ["c", 1],
    ]);
  });

  test("all count as deleted now if the client reconnected", () => {
    const { shared } = deleted();
    const set = held({ b: 0, c: 1 });
    const resumed = shared.resume(set);
    expect(sinceOf(resumed)).toEqual([
      ["b", 2],
      ["c", 2],
    ]);
    expect(shared.resume(set)).toBe(resumed);
    shared.advance(3);
    expect(sinceOf(shared.resume(set))).toEqual([
      ["b", 3],
      ["c", 3],
    ]);
  });
});

describe("what may be removed", () => {
  test("is split from the rest, alike for all bounds that part the set alike", () => {
    const { shared } = deleted();
    const set = held({ a: 3, b: 5 });
    const [none, some, all] = [2, 3, 5].map((to) => shared.part(set, to));
    expect([none, some, all].map((parts) => parts && [sinceOf(parts.stays), parts.goes])).toEqual([
      [
        [
          ["a", 3],
          ["b", 5],
        ],
        [],
      ],
      [[["b", 5]], ["a"]],
      [[], ["a", "b"]],
    ]);
    expect(none?.stays).toBe(set);
    expect([shared.part(set, 3) === some, shared.part(set, 9) === all, shared.part(held({ a: 3 }), 9) === all]).toEqual(
      [true, true, false],
    );
  });

  test("is added to a delta body, and what has to wait is taken out", () => {
    const { shared } = deleted();
    const body = bodyOf("b", "c");
    const withheld = (set: PendingRemovals, removable: Removable, asked?: ReadonlySet<string>): unknown => {
      const split = shared.withhold(body, set, removable, { asked, past: undefined });
      return [sinceOf(split.pendingRemovals), split.body.segments.map(({ removed }) => removed)];
    };
    const both = [
      ["b", 2],
      ["c", 2],
    ];
    expect(withheld(noPendingRemovals, upTo(1))).toEqual([both, [[]]]);
    expect(withheld(held({ a: 1 }), upTo(1))).toEqual([both, [[], ["a"]]]);
    expect(withheld(held({ a: 1 }), upTo(0))).toEqual([[["a", 1], ...both], [[]]]);
    expect(withheld(held({ a: 1 }), upTo(2))).toEqual([[], [[], ["a", "b", "c"]]]);
    expect(withheld(noPendingRemovals, upTo(1), new Set(["b"]))).toEqual([[["c", 2]], [["b"]]]);
    expect(withheld(noPendingRemovals, upTo(1), new Set())).toEqual([both, [[]]]);
    expect(
      withheld(
        noPendingRemovals,
        upTo(1, (name) => name === "b"),
      ),
    ).toEqual([[["c", 2]], [[], ["b"]]]);
  });

  test("splits one body once for clients with the same set and bound", () => {
    const { shared } = deleted();
    const [set, other] = [held({ a: 1 }), held({ a: 1 })];
    const body = bodyOf("b");
    const split = (which: PendingRemovals, to: number, asked?: ReadonlySet<string>): unknown =>
      shared.withhold(body, which, upTo(to), { asked, past: undefined });
    const first = split(set, 1);
    expect([split(set, 1, new Set()) === first, split(set, 0) === first, split(other, 1) === first]).toEqual([
      true,
      false,
      false,
    ]);
    expect([split(set, 2) === split(set, 9), split(set, 2) === first]).toEqual([true, false]);
    expect(split(set, 1, new Set(["x"]))).not.toBe(first);
    shared.advance(3);
    expect(split(set, 1)).not.toBe(first);
  });

  test("is the body as it is if nothing has to wait", () => {
    const { shared } = deleted();
    const [none, some] = [bodyOf(), bodyOf("b")];
    const bodies = [
      shared.withhold(none, noPendingRemovals, upTo(0), { asked: undefined, past: undefined }),
      shared.withhold(some, noPendingRemovals, upTo(2), { asked: undefined, past: undefined }),
    ];
    expect(bodies.map(({ body }) => body)).toEqual([none, some]);
    expect(bodies.map(({ body }, i) => body === [none, some][i])).toEqual([true, true]);
    expect(bodies.map(({ pendingRemovals }) => pendingRemovals === noPendingRemovals)).toEqual([true, true]);
  });

  test("S-TTL-09: is kept with its former state where that had a TTL", () => {
    const { shared } = deleted();
    const was = { ...cluster("b", "1"), ttlMs: 1000 };
    const { pendingRemovals } = shared.withhold(bodyOf("b", "c"), noPendingRemovals, upTo(0), {
      asked: undefined,
      past: new Map([["b", was]]),
    });
    expect([...pendingRemovals.names]).toEqual([
      ["b", { was, since: 2 }],
      ["c", { since: 2 }],
    ]);
  });
});
