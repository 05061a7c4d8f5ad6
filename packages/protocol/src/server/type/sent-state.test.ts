import { beforeEach, describe, expect, test } from "vitest";
import { shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { digest, ENDPOINTS, resource } from "../../../test/support/resources.ts";
import { locatedTerm } from "../../resource/variant-name.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { Subscription } from "../subscription/subscription.ts";
import { SentState } from "./sent-state.ts";

const e = (name: string, label = "1"): ReturnType<typeof resource> => resource(ENDPOINTS, name, label);

/** Endpoints a and b at revision 1, and a client that subscribes to some names. */
class World {
  readonly base = new WrittenLayer("base", [e("a"), e("b")]);
  readonly responses = new SharedResponses(digest);
  readonly view = viewOf(this.base);
  readonly current: CurrentView = new CurrentViews(this.responses).of(this.view);
  readonly subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  readonly sent = new SentState(ENDPOINTS, this.subscription);

  constructor() {
    this.responses.advance(1, undefined);
  }

  put(revision: number, ...puts: readonly ReturnType<typeof resource>[]): void {
    this.base.put(revision, ...puts);
    this.responses.advance(revision, undefined);
  }

  advance(): void {
    this.sent.advance(this.current.toPosition());
  }

  isSent(...names: readonly string[]): readonly boolean[] {
    return names.map((name) => this.sent.isSent(name, this.current));
  }

  pending(): readonly string[] {
    return [...this.sent.pendingResources(this.current)].map((one) => shown(one.resource));
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

describe("what a client was sent", () => {
  test("is nothing at first; then everything up to a position, whatever was asked for before", () => {
    const { sent, subscription, view } = world;
    subscription.update(["a", "b"], []);
    sent.ask("a", true);
    sent.unansweredNames.add("x");
    sent.sentOutOfOrder.set("b", undefined);
    expect([sent.position, sent.isPlain, sent.hasNews(view), world.isSent("a", "b")]).toEqual([
      ...[undefined, false, true],
      [false, false],
    ]);
    const { pendingNames } = sent;
    world.advance();
    expect([sent.position, sent.isPlain, sent.hasNews(view), world.isSent("a", "b", "x")]).toEqual([
      ...[{ view, revision: 1 }, true, false],
      [true, true, true],
    ]);
    // An answer may still refer to the terms that it answers.
    expect([[...pendingNames.keys()], [...sent.pendingNames.keys()]]).toEqual([["a"], []]);
    world.put(2, e("a", "2"));
    expect([sent.hasNews(view), world.isSent("a", "b")]).toEqual([true, [false, true]]);
    sent.catchUp(2);
    expect([sent.position, sent.hasNews(view), world.isSent("a", "b")]).toEqual([
      ...[{ view, revision: 2 }, false],
      [true, true],
    ]);
  });

  test("is nothing again once everything is to be resent; the position stays known", () => {
    const { sent, view } = world;
    sent.catchUp(1);
    expect(sent.sentUpTo).toBe(undefined);
    world.advance();
    const before = sent.sentUpTo;
    sent.catchUp(1);
    expect(sent.sentUpTo).toBe(before);
    sent.resendsAll = true;
    expect([sent.position, sent.sentUpTo, sent.hasNews(view), world.isSent("a")]).toEqual([
      ...[undefined, before, true],
      [false],
    ]);
    world.advance();
    expect([sent.resendsAll, world.isSent("a")]).toEqual([false, [true]]);
  });

  test("is news as long as a term is pending, was not answered, or was answered out of order", () => {
    const { sent, view } = world;
    const news = [
      () => sent.ask("a"),
      () => sent.unansweredNames.add("a"),
      () => sent.sentOutOfOrder.set("a", undefined),
      () => undefined,
    ].map((change) => {
      world.advance();
      change();
      return [sent.isPlain, sent.hasNews(view)];
    });
    expect(news).toEqual([...Array(3).fill([false, true]), [true, false]]);
  });

  test("out of order or in vain is its present state, as long as that stays", () => {
    const { sent } = world;
    world.advance();
    const [a] = world.view.answersTo(ENDPOINTS, "a");
    for (const name of ["a", "none", "b"]) sent.sentOutOfOrder.set(name, name === "a" ? a : undefined);
    sent.unansweredNames.add("late");
    sent.ask("asked");
    expect(world.isSent("a", "none", "b", "late", "asked")).toEqual([true, true, false, true, false]);
    world.put(2, e("a", "2"), e("none"), e("late"));
    expect(world.isSent("a", "none", "b", "late")).toEqual([false, false, false, false]);
  });

  test("of a term that was given up is of no interest", () => {
    const { sent } = world;
    world.advance();
    for (const term of ["a", "b"]) {
      sent.ask(term);
      sent.unansweredNames.add(term);
    }
    sent.giveUp("a");
    expect([[...sent.pendingNames.keys()], [...sent.unansweredNames]]).toEqual([["b"], ["b"]]);
    const { pendingNames } = sent;
    sent.clearAsked();
    expect([[...pendingNames.keys()], sent.pendingNames.size]).toEqual([["b"], 0]);
  });
});

describe("S-WRM-08: names to be resent", () => {
  test("are those that the client subscribes to, by the terms by which it does", () => {
    const { sent, subscription } = world;
    subscription.update(["a", "b"], []);
    expect([sent.resend(new Set([])), sent.resend(new Set(["x"])), sent.pendingNames.size]).toEqual([false, false, 0]);
    expect([sent.resend(new Set(["x", "a"])), [...sent.pendingNames.keys()], sent.pendingNames.get("a")]).toEqual([
      ...[true, ["a"], false],
    ]);
    subscription.speakOfParameters();
    sent.clearAsked();
    expect([sent.resend(new Set(["b"])), [...sent.pendingNames.keys()]]).toEqual([true, [locatedTerm("b")]]);
  });

  test("are found among many more than the client subscribes to", () => {
    const { sent, subscription } = world;
    subscription.update(["a", "b"], []);
    const many = new Set(Array.from({ length: 20 }, (_, i) => `x${i}`));
    expect([sent.resend(many), sent.pendingNames.size]).toEqual([false, 0]);
    expect([sent.resend(new Set([...many, "b"])), [...sent.pendingNames.keys()]]).toEqual([true, ["b"]]);
    subscription.update(["xdstp://h/T/c/*"], []);
    expect(sent.resend(new Set([...many, "xdstp://h/T/c/d"]))).toBe(false);
    expect([...sent.pendingNames.keys()]).toEqual(["b"]);
  });

  test("are all of them for a wildcard, and those that a test leaves to terms", () => {
    const { sent, subscription } = world;
    expect(sent.resend(new Set(["c/", "x"]), (name) => name === "c/")).toBe(true);
    expect([...sent.pendingNames.keys()]).toEqual(["c/"]);
    subscription.update(["*"], []);
    expect([sent.resend(new Set(["y"])), [...sent.pendingNames.keys()]]).toEqual([true, ["c/", "y"]]);
  });
});

describe("S-ORD-06: what a client is about to be sent", () => {
  test("is what changed, and what its terms match that are pending, unanswered or answered out of order", () => {
    const { sent, subscription } = world;
    subscription.update(["a", "b", "c", "d"], []);
    expect(world.pending()).toEqual(["a@1", "b@1"]);
    world.advance();
    expect(world.pending()).toEqual([]);
    world.put(2, e("c"), e("d"));
    expect(world.pending()).toEqual(["c@1", "d@1"]);
    world.advance();
    sent.ask("a");
    sent.sentOutOfOrder.set("b", undefined);
    sent.unansweredNames.add("d");
    sent.ask("none");
    expect(world.pending()).toEqual(["a@1", "b@1", "d@1"]);
  });

  test("replaces what the client goes on using while a name is held back", () => {
    const { sent, subscription, current } = world;
    subscription.update(["a", "b"], []);
    world.advance();
    expect(sent.heldBackFrom).toBe(Number.POSITIVE_INFINITY);
    world.put(2, e("a", "2"), e("b", "2"));
    const marks = sent.holdBack(new Map([["a", undefined]]), current);
    world.advance();
    expect(sent.heldBackFrom).toBe(Number.POSITIVE_INFINITY);
    for (const [name, mark] of marks) sent.sentOutOfOrder.set(name, mark);
    expect([sent.heldBackFrom, world.isSent("a", "b")]).toEqual([1, [false, true]]);
    world.put(3, e("a", "3"), e("b", "3"));
    // What is there at the position is not what the client has: the last word counts.
    const replaced = new Map([...sent.pendingResources(current)].map((one) => [shown(one.resource), one.replaces]));
    expect([...replaced]).toMatchObject([
      ["a@3", { version: e("a", "1").version }],
      ["b@3", { version: e("b", "2").version }],
    ]);
  });
});
