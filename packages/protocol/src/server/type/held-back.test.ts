import { beforeEach, describe, expect, test } from "vitest";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { digest, ENDPOINTS, resource } from "../../../test/support/resources.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { unknownUses } from "../cache/shared-selections.ts";
import { Subscription } from "../subscription/subscription.ts";
import { HeldBack, type HeldBackNames, nothingHeldBack } from "./held-back.ts";
import { SentState } from "./sent-state.ts";

const e = (name: string, label = "1"): ReturnType<typeof resource> => resource(ENDPOINTS, name, label);
const only = (...names: readonly string[]): HeldBackNames => new Map(names.map((name) => [name, undefined]));

/** A client that was sent endpoints a and b at revision 1; they change at revision 2, and c is new. */
class World {
  readonly base = new WrittenLayer("base", [e("a"), e("b")]);
  readonly responses = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.responses).of(viewOf(this.base));
  readonly subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  readonly sent = new SentState(ENDPOINTS, this.subscription);
  readonly held = new HeldBack();

  constructor() {
    this.subscription.update(["a", "b", "c"], []);
    this.responses.advance(1, undefined);
    this.sent.advance(this.current.toPosition());
    this.put(2, e("a", "2"), e("b", "2"), e("c", "2"));
  }

  put(revision: number, ...puts: readonly ReturnType<typeof resource>[]): void {
    this.base.put(revision, ...puts);
    this.responses.advance(revision, undefined);
  }

  /** The versions that the client was last sent of what is held back now. */
  hold(names: HeldBackNames, sent = this.sent): Record<string, string | undefined> {
    const marks = this.held.hold(names, sent, this.current, this.subscription);
    return Object.fromEntries([...marks].map(([name, mark]) => [name, mark?.version]));
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

describe("S-ORD-06: a resource that is held back", () => {
  test("is compared later with what the client has, which it goes on using", () => {
    const { held } = world;
    expect([held.from, held.has("a")]).toEqual([Number.POSITIVE_INFINITY, false]);
    expect(world.hold(only("a", "c", "d"))).toEqual({ a: e("a").version, c: undefined });
    expect(["a", "b", "c", "d"].map((name) => [held.has(name), held.replacedBy(name)])).toMatchObject([
      [true, { name: "a", version: e("a").version }],
      [false, undefined],
      [true, undefined],
      [true, undefined],
    ]);
    expect(held.from).toBe(1);
  });

  test("goes on replacing what it did when it was first held back, and is let go when it is not named any more", () => {
    const { held, sent } = world;
    world.hold(only("a"));
    sent.advance(world.current.toPosition());
    world.put(3, e("a", "3"), e("b", "3"));
    expect(world.hold(only("a", "b"))).toEqual({ a: e("a", "2").version, b: e("b", "2").version });
    expect([held.replacedBy("a"), held.replacedBy("b"), held.from]).toMatchObject([
      ...[{ version: e("a").version }, { version: e("b", "2").version }, 1],
    ]);
    world.hold(only("b"));
    expect([held.has("a"), held.from]).toEqual([false, 2]);
    expect([world.hold(nothingHeldBack), held.has("b"), held.from]).toEqual([{}, false, Number.POSITIVE_INFINITY]);
  });

  test("replaces something unknown if the client was sent it out of order, and nothing if it was told of none", () => {
    const { held, sent } = world;
    sent.sentOutOfOrder.set("a", { version: "ahead", ttlMs: undefined });
    sent.sentOutOfOrder.set("c", undefined);
    sent.sentOutOfOrder.set("x", { version: "other", ttlMs: undefined });
    expect(world.hold(only("a", "c"))).toEqual({ a: "ahead", c: undefined });
    expect([held.replacedBy("a"), held.replacedBy("c")]).toEqual([unknownUses, undefined]);
  });

  test("has no former state if it is asked for, was not subscribed to, or nothing was sent yet", () => {
    const { held, sent, subscription } = world;
    sent.ask("a");
    expect([world.hold(only("a")), held.replacedBy("a"), held.has("a")]).toEqual([{}, undefined, true]);
    subscription.update([], ["b"]);
    expect([world.hold(only("b")), held.replacedBy("b")]).toEqual([{ b: undefined }, undefined]);
    const fresh = new SentState(ENDPOINTS, subscription);
    expect([world.hold(only("c"), fresh), held.from]).toEqual([{}, -1]);
  });

  test("may be sent an earlier state, which the client then uses, as of its own revision", () => {
    const { held } = world;
    world.hold(only("a"));
    const target = { resource: e("a", "earlier"), revision: 0 };
    expect(world.hold(new Map([["a", target]]))).toEqual({ a: target.resource.version });
    expect([held.replacedBy("a"), held.from]).toEqual([target.resource, 0]);
  });
});
