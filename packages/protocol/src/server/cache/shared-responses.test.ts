import { describe, expect, test } from "vitest";
import { cluster, shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import {
  CLUSTER,
  digest,
  ENDPOINTS,
  failure,
  HOST,
  LISTENER,
  ROUTE,
  resource,
  traits,
} from "../../../test/support/resources.ts";
import type { Body } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TermRules } from "../../resource/term-rules.ts";
import { opaqueTraits } from "../../resource/type-traits.ts";
import { virtualHostTerms } from "../../resource/virtual-host-name.ts";
import type { View } from "../../state/view.ts";
import { Subscription } from "../subscription/subscription.ts";
import { type CurrentView, CurrentViews } from "./current-view.ts";
import { noPendingRemovals, PendingRemovals } from "./pending-removals.ts";
import { SharedResponses } from "./shared-responses.ts";

const glob = "xdstp://authority/envoy.config.cluster.v3.Cluster/g";

function subscribed(...names: readonly string[]): Subscription {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  subscription.replace(names);
  return subscription;
}

/** Clusters at revision 1, of which the test writes more. */
class State {
  readonly base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1"), cluster("c", "1", true)]);
  readonly view: View = viewOf(this.base);
  readonly shared = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.shared).of(this.view);

  constructor() {
    this.shared.advance(1, undefined);
  }

  put(revision: number, ...puts: readonly Resource[]): void {
    this.base.put(revision, ...puts);
    this.shared.advance(revision, undefined);
  }
}

const saidBy = ({ variant, version, segments, ...marks }: Body): unknown => ({
  ...{ variant, version, ...marks },
  segments: segments.map(({ puts, removed, missing }) => [
    ...puts.map(shown),
    ...removed.map((one) => `-${one}`),
    ...missing.map((one) => `?${one}`),
  ]),
});

describe("what a subscription covers", () => {
  test("is computed once for equal subscriptions, until the next transaction", () => {
    const { current, base, shared } = new State();
    const of = (...names: readonly string[]) => current.select(CLUSTER, subscribed(...names));
    const first = of("a", "x");
    expect([first.puts.map(shown), first.removed]).toEqual([["a@1"], ["x"]]);
    expect([of("x", "a") === first, of("a") === first, of("*", "a", "x") === first]).toEqual([true, false, false]);
    expect(of("*", "c").puts.map(shown)).toEqual(["a@1", "b@1", "c@1"]);
    expect(current.select(ENDPOINTS, subscribed("a", "x"))).toEqual({ puts: [], removed: ["a", "x"] });
    base.put(2, cluster("x", "2"));
    shared.advance(2, undefined);
    expect(of("a", "x").puts.map(shown)).toEqual(["a@1", "x@2"]);
  });

  test("of the changes since a position is computed once, and is nothing if nothing changed", () => {
    const state = new State();
    const from = state.current.toPosition();
    state.put(2, cluster("a", "2"), cluster("n", "1"));
    const of = (...names: readonly string[]) => state.current.selectSince(from, CLUSTER, subscribed(...names));
    const first = of("a", "b");
    expect([first.puts.map(shown), first.removed]).toEqual([["a@2"], []]);
    expect([of("b", "a") === first, of("a") === first]).toEqual([true, false]);
    expect(of("*").puts.map(shown)).toEqual(["a@2", "n@1"]);
    const now = state.current.toPosition();
    expect(state.current.selectSince(now, CLUSTER, subscribed("*"))).toEqual({ puts: [], removed: [] });
    expect(state.current.selectSince(from, ENDPOINTS, subscribed("*"))).toEqual({ puts: [], removed: [] });
  });

  test("B-XTP-05: of a collection is known by name, without what comes on demand", () => {
    const state = new State();
    state.put(2, cluster(`${glob}/x`, "1"), cluster(`${glob}/y`, "1", true), cluster(`${glob}/z`, "1"));
    const first = state.current.baseOf(CLUSTER, `${glob}/*`);
    expect([first, state.current.baseOf(CLUSTER, `${glob}/other/*`)]).toEqual([[`${glob}/x`, `${glob}/z`], []]);
    expect(state.current.baseOf(CLUSTER, `${glob}/*`)).toBe(first);
    state.put(3, cluster(`${glob}/y`, "1"));
    expect(state.current.baseOf(CLUSTER, `${glob}/*`)).toEqual([`${glob}/x`, `${glob}/y`, `${glob}/z`]);
  });

  test("S-TTL-09: and has a TTL is known with the shortest one", () => {
    const state = new State();
    const none = state.current.selectTimed(CLUSTER, subscribed("*"));
    expect(none).toEqual({ resources: [], shortestMs: Number.POSITIVE_INFINITY });
    const [a, b] = [
      { ...cluster("a", "1"), ttlMs: 2000 },
      { ...cluster("b", "1"), ttlMs: 1000 },
    ];
    state.put(2, a, b);
    const of = (...names: readonly string[]) => state.current.selectTimed(CLUSTER, subscribed(...names));
    expect([of("a", "x"), of("*"), of("c")]).toEqual([
      { resources: [a], shortestMs: 2000 },
      { resources: [a, b], shortestMs: 1000 },
      { resources: [], shortestMs: Number.POSITIVE_INFINITY },
    ]);
    expect(of("x", "a")).toBe(of("a", "x"));
  });

  test("S-VHD-03: a resource has the other terms that it answers as aliases, and is itself where there are none", () => {
    const host = resource(HOST, "r/*.test", "1");
    const layer = new WrittenLayer("base", []);
    const current = new CurrentViews(new SharedResponses(digest)).of(viewOf(layer));
    layer.put(1, host);
    const answering = (names: readonly string[], terms?: TermRules): Resource => {
      const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false, terms });
      subscription.replace(names);
      return current.answering(host, subscription);
    };
    expect(answering(["r/a.test"])).toBe(host);
    expect(answering(["r/*.test"], virtualHostTerms)).toBe(host);
    expect(answering(["s/a.test"], virtualHostTerms)).toBe(host);
  });

  test("and is about to be sent is everything to a new client, and what changed to another", () => {
    const state = new State();
    const from = state.current.toPosition();
    state.put(2, cluster("a", "2"), cluster("n", "1"));
    state.base.delete(3, "b");
    state.shared.advance(3, undefined);
    const pending = (position: typeof from | undefined, ...names: readonly string[]): unknown =>
      [...state.current.pendingResources(position, CLUSTER, subscribed(...names))].map(
        ({ resource: now, replaces }) => [shown(now), replaces?.references],
      );
    expect(pending(undefined, "*")).toEqual([
      ["a@2", undefined],
      ["n@1", undefined],
    ]);
    expect(pending(from, "*")).toEqual([
      ["a@2", [{ type: ENDPOINTS, name: "a" }]],
      ["n@1", undefined],
    ]);
    expect(pending(from, "n", "b")).toEqual([["n@1", undefined]]);
  });
});

describe("a body", () => {
  test("of everything and of the changes is one object for all clients, with the version of the type", () => {
    const state = new State();
    const from = state.current.toPosition();
    const whole = state.current.wholeBody("sotw", CLUSTER);
    const version = state.view.typeVersion(CLUSTER);
    expect(saidBy(whole)).toEqual({ variant: "sotw", type: CLUSTER, version, segments: [["a@1", "b@1"]] });
    expect([
      state.current.wholeBody("sotw", CLUSTER) === whole,
      state.current.wholeBody("delta", CLUSTER).variant,
    ]).toEqual([true, "delta"]);
    state.put(2, cluster("a", "2"));
    const since = state.current.bodySince("delta", from, CLUSTER);
    expect(saidBy(since)).toEqual({
      ...{ variant: "delta", type: CLUSTER, version: state.view.typeVersion(CLUSTER) },
      segments: [["a@2"]],
    });
    expect(state.current.bodySince("delta", { ...from }, CLUSTER)).toBe(since);
    expect(state.current.bodySince("sotw", from, CLUSTER)).toMatchObject({ variant: "sotw" });
    expect(state.current.bodySince("delta", from, ENDPOINTS)).toMatchObject({ type: ENDPOINTS, segments: [] });
    expect(state.current.bodySince("delta", state.current.toPosition(), CLUSTER).segments).toEqual([]);
    expect(state.current.bodySince("delta", from, CLUSTER)).toBe(since);
    const other = viewOf(new WrittenLayer("other", [cluster("o", "1")]));
    const there = new CurrentViews(state.shared).of(other);
    expect(saidBy(there.bodySince("delta", from, CLUSTER))).toMatchObject({ segments: [["o@1", "-a", "-b"]] });
  });

  test("of a selection is one object for equal subscriptions at the same position", () => {
    const state = new State();
    const from = state.current.toPosition();
    const segment = { puts: [cluster("a", "1")], removed: [], missing: ["x"] };
    const of = (names: readonly string[], position?: typeof from): Body =>
      state.current.selectionBody("delta", CLUSTER, subscribed(...names), () => segment, position);
    const first = of(["a", "x"]);
    expect(saidBy(first)).toMatchObject({ variant: "delta", segments: [["a@1", "?x"]] });
    expect([of(["x", "a"]), of(["a"]), of(["a", "x"], from), of(["*", "a", "x"])].map((one) => one === first)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(of(["a", "x"], from)).toBe(of(["x", "a"], from));
  });

  test("S-ORD-05: of a full state lists pending removals too, and has a version of its own with them", () => {
    const state = new State();
    const was = cluster("gone", "1");
    const set = new PendingRemovals(new Map([["gone", { was, since: 1 }]]));
    const full = (pending: PendingRemovals, ...names: readonly string[]): Body =>
      state.current.fullBody(CLUSTER, subscribed(...names), pending);
    expect([full(noPendingRemovals, "*"), full(set, "*"), full(set, "a", "x")].map(saidBy)).toEqual([
      { variant: "sotw", type: CLUSTER, version: state.view.typeVersion(CLUSTER), segments: [["a@1", "b@1"]] },
      {
        ...{ variant: "sotw", type: CLUSTER, version: state.view.typeVersionWith(CLUSTER, was.sum, set.marks) },
        segments: [["a@1", "b@1"], ["gone@1"]],
      },
      {
        ...{ variant: "sotw", type: CLUSTER, version: state.view.typeVersionWith(CLUSTER, was.sum, set.marks) },
        segments: [["a@1"], ["gone@1"]],
      },
    ]);
    expect(full(set, "*")).toBe(full(set, "*"));
    expect(full(set, "a")).not.toBe(full(set, "*"));
  });

  test("that only removes names, or of one small segment, is shared by streams that are sent the same", () => {
    const { current } = new State();
    const removal = current.removalBody(CLUSTER, ["a", "b"]);
    expect(saidBy(removal)).toMatchObject({ variant: "delta", segments: [["-a", "-b"]] });
    expect([
      current.removalBody(CLUSTER, ["a", "b"]) === removal,
      current.removalBody(CLUSTER, ["b"]) === removal,
    ]).toEqual([true, false]);
    const [a, twin] = [cluster("a", "1"), cluster("a", "1")];
    const own = (puts: readonly Resource[], removed: readonly string[] = [], missing: readonly string[] = []): Body =>
      current.ownBody("delta", CLUSTER, { puts, removed, missing });
    const first = own([a], ["r"], ["m"]);
    expect(saidBy(first)).toMatchObject({ segments: [["a@1", "-r", "?m"]] });
    const others = [own([a], ["r"], ["m"]), own([twin], ["r"], ["m"]), own([a], ["m"], ["r"]), own([a], ["r"])];
    expect(others.map((one) => one === first)).toEqual([true, false, false, false]);
    const many = (count: number): Body =>
      own(
        [],
        Array.from({ length: count }, (_, i) => `n${i}`),
      );
    expect(many(16)).toBe(many(16));
    expect(many(17)).not.toBe(many(17));
  });

  test("B-VER-07: of delta has the system version once there is one", () => {
    const state = new State();
    state.shared.advance(2, "s1");
    const versions = (): unknown => [
      state.current.version("delta", CLUSTER),
      state.current.wholeBody("delta", CLUSTER).version,
    ];
    expect(versions()).toEqual(["s1", "s1"]);
    state.shared.advance(3, undefined);
    expect(versions()).toEqual(["s1", "s1"]);
    expect(state.current.version("sotw", CLUSTER)).toBe(state.view.typeVersion(CLUSTER));
    state.put(4, { ...cluster("a", "1"), ttlMs: 1000 });
    expect(state.current.forTtls(CLUSTER, "told").version("delta", CLUSTER)).toBe("s1");
  });

  test("B-MSC-03, S-TTL-01: is marked as canary in State of the World, and as one with TTLs", () => {
    const state = new State();
    state.put(2, { ...cluster("a", "1"), ttlMs: 1000 });
    state.base.tableFor(CLUSTER).markCanary(true);
    const told = state.current.forTtls(CLUSTER, "told");
    const marks = [state.current, told].flatMap((current) =>
      (["sotw", "delta"] as const).map((variant) => {
        const { ttls, isCanary } = current.wholeBody(variant, CLUSTER);
        return { ttls, isCanary };
      }),
    );
    expect(marks).toEqual([
      { ttls: undefined, isCanary: true },
      { ttls: undefined, isCanary: undefined },
      { ttls: "told", isCanary: true },
      { ttls: "told", isCanary: undefined },
    ]);
  });

  test("S-TTL-12: that is a heartbeat has names in delta and whole resources in State of the World", () => {
    const { shared } = new State();
    const held = [{ ...cluster("a", "1"), ttlMs: 1000 }];
    const of = (variant: Body["variant"], version: string): Body =>
      shared.bodies.heartbeat(variant, CLUSTER, version, held);
    expect([of("delta", "1").segments, of("sotw", "1").segments]).toEqual([
      [{ puts: [], removed: [], missing: [], heartbeats: held }],
      [{ puts: held, removed: [], missing: [] }],
    ]);
    expect(of("delta", "1")).toBe(of("delta", "1"));
    expect([of("delta", "2").version, of("sotw", "1").version]).toEqual(["2", "1"]);
    expect(shared.bodies.timedIn(of("sotw", "1"))).toEqual({ resources: held, shortestMs: 1000 });
    expect(shared.bodies.timedIn(of("sotw", "1"))).toBe(shared.bodies.timedIn(of("sotw", "1")));
  });
});

describe("the state that clients share", () => {
  test("moves on with transactions, also that of clients with TTLs; a restart goes on from the higher revision", () => {
    const state = new State();
    state.put(2, { ...cluster("a", "1"), ttlMs: 1000 });
    const told = state.current.forTtls(CLUSTER, "told");
    state.shared.resumeAt(7);
    expect([state.current.revision, told.revision]).toEqual([7, 7]);
    state.shared.resumeAt(3);
    expect([state.current.revision, told.revision]).toEqual([7, 7]);
    state.put(8, cluster("b", "2"));
    expect([state.current.revision, told.revision, told.select(CLUSTER, subscribed("b")).puts.map(shown)]).toEqual([
      8,
      8,
      ["b@2"],
    ]);
    expect([
      state.shared.resumeAt(9),
      state.current.shared.pendingRemovals.resume(new PendingRemovals(new Map([["x", { since: 1 }]]))).newest,
    ]).toEqual([undefined, 9]);
  });

  test("keeps what streams share across a pause, and makes the rest again", () => {
    const state = new State();
    const from = state.current.toPosition();
    state.put(2, cluster("a", "2"));
    const body = state.current.bodySince("delta", from, CLUSTER);
    state.shared.rest();
    expect(state.current.bodySince("delta", from, CLUSTER)).toBe(body);
  });

  test("S-ORD-02: knows what a resource references that its former version did not", () => {
    const { shared } = new State();
    const uses = (...names: readonly string[]): Resource =>
      resource(ROUTE, "r", names.join(), { references: names.map((name) => ({ type: CLUSTER, name })) });
    const [before, now] = [uses("a"), uses("a", "b", "c")];
    const found = shared.newUses(now, before, CLUSTER);
    expect([[...found], [...shared.newUses(now, now, CLUSTER)], [...shared.newUses(now, before, ENDPOINTS)]]).toEqual([
      ["b", "c"],
      [],
      [],
    ]);
    expect(shared.newUses(now, before, CLUSTER)).toBe(found);
  });

  test("knows whether a resource references something without a resource", () => {
    const state = new State();
    state.base.put(2, resource(ENDPOINTS, "a", "1"));
    const isVacant = (one: Resource, ...owes: Parameters<CurrentView["isVacant"]>[1]): boolean =>
      state.current.isVacant(one, owes);
    expect([
      isVacant(cluster("a", "1"), ENDPOINTS),
      isVacant(cluster("b", "1"), ENDPOINTS),
      isVacant(cluster("b", "1"), ROUTE),
    ]).toEqual([false, true, false]);
  });

  test("has a placeholder for a name that is referenced and has neither resource nor error", () => {
    const state = new State();
    const known = {
      ...(traits(ENDPOINTS) ?? opaqueTraits(ENDPOINTS)),
      placeholder: (name: string) => new TextEncoder().encode(`${name}=none`),
    };
    const of = (name: string): Resource | undefined => state.current.placeholder(known, name);
    expect([shown(of("a")), of("x"), of("a")?.type]).toEqual(["a@none", undefined, ENDPOINTS]);
    expect(of("a")).toBe(of("a"));
    expect(of("a")).not.toBe(of("b"));
    expect(state.current.placeholder(traits(ENDPOINTS) ?? opaqueTraits(ENDPOINTS), "a")).toBeUndefined();
    state.put(2, failure(ENDPOINTS, "a", 13), resource(LISTENER, "l", "1"));
    expect([of("a"), shown(of("b"))]).toEqual([undefined, "b@none"]);
  });
});
