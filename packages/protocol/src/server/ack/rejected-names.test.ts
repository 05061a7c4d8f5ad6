import { describe, expect, test } from "vitest";
import { Conversation, delta, node, type Said, sotw } from "../../../test/support/conversation.ts";
import { CLUSTER, LISTENER, ROUTE, resource } from "../../../test/support/resources.ts";
import type { Body } from "../../message/body.ts";
import { Subscription } from "../subscription/subscription.ts";
import { RejectedNames } from "./rejected-names.ts";

const no = { code: 3, message: "no" };
const old = resource(CLUSTER, "old", "1", { references: [] });
const users = [{ type: CLUSTER, name: "old" }];
const route = (label: string, references = users): ReturnType<typeof resource> =>
  resource(ROUTE, "r", label, { references, aliases: ["r!"] });
const removes = (said: readonly Said[]): readonly string[] =>
  said.flatMap(({ says }) => says).filter((what) => what === "-old");

/** A client in sync, that asks for a route in some way. */
function inSync(...subscribe: readonly string[]): Conversation {
  const talk = new Conversation();
  talk.put(old, route("1"));
  talk.open(1, "delta");
  talk.hear(1, delta(CLUSTER, { node: node("n") }));
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.hear(1, delta(ROUTE, { subscribe }));
  talk.hear(1, delta(ROUTE, { nonce: "2" }));
  return talk;
}

function deleteBoth(talk: Conversation): readonly Said[] {
  talk.change({
    deletes: [
      { type: ROUTE, name: "r" },
      { type: CLUSTER, name: "old" },
    ],
  });
  return talk.turns();
}

test("S-ORD-06 the subscription of a rejected removal is remembered as long as an alias may have subscribed to it", () => {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  subscription.update(["r!", "s"], []);
  const { scope } = subscription;
  const rejected = new RejectedNames();
  const body = (removed: readonly string[], ...puts: readonly ReturnType<typeof route>[]): Body => {
    return { variant: "delta", type: ROUTE, version: "1", segments: [{ puts, removed, missing: [] }] };
  };
  const state = (): unknown => [rejected.size, rejected.hasResources, rejected.counted, rejected.scope === scope];
  expect([state(), rejected.scope]).toEqual([[0, false, 0, false], undefined]);
  rejected.add(["r", "s"], body(["r", "s"]), scope);
  expect(state()).toEqual([2, false, 2, true]);
  rejected.add(["r"], body([], route("1")), scope);
  expect([state(), rejected.scope]).toEqual([[2, true, 1, false], undefined]);
  rejected.add(["r", "q"], body(["r", "q"]), scope);
  rejected.accept(["r"], body(["r"]));
  expect(state()).toEqual([2, false, 2, true]);
  rejected.accept(["q", "s"], body(["q", "s"]));
  expect([state(), rejected.scope]).toEqual([[0, false, 0, false], undefined]);
});

test("T-A5 the rest of a rejected response is known from any of its names, until each was accepted or rejected again", () => {
  const body = (removed: readonly string[], ...names: readonly string[]): Body => {
    const puts = names.map((name) => resource(ROUTE, name, "1"));
    return { variant: "delta", type: ROUTE, version: "1", segments: [{ puts, removed, missing: [] }] };
  };
  const rejected = new RejectedNames();
  const rest = (...changed: readonly string[]): unknown => [...rejected.restOf(new Set(changed))];
  rejected.add(["a", "b", "r", "m"], body(["r"], "a", "b"), undefined);
  rejected.add(["c", "d"], body([], "c", "d"), undefined);
  expect(rest("a")).toEqual([
    ["b", false],
    ["r", true],
    ["m", false],
  ]);
  expect(rest("a", "b", "r", "m", "c", "x", "y", "z")).toEqual([["d", false]]);
  expect(rest("x")).toEqual([]);
  rejected.accept(["r", "m"], body(["r", "m"]));
  rejected.add(["b", "c"], body([], "b", "c"), undefined);
  expect([rest("a"), rest("d"), rest("b")]).toEqual([[], [], [["c", false]]]);
});

describe("S-ORD-06 what a client refused keeps the Clusters that it may use", () => {
  test("until the wildcard that covered it is given up", () => {
    const talk = inSync("*", "other");
    deleteBoth(talk);
    expect(removes(talk.hear(1, delta(ROUTE, { nonce: "3", error: no })))).toEqual([]);
    expect(removes(talk.hear(1, delta(ROUTE, { unsubscribe: ["*"] })))).toEqual(["-old"]);
  });

  test("but not if it was given up before it was refused", () => {
    const talk = inSync("*");
    deleteBoth(talk);
    expect(removes(talk.hear(1, delta(ROUTE, { unsubscribe: ["*"] })))).toEqual([]);
    expect(removes(talk.hear(1, delta(ROUTE, { nonce: "3", error: no })))).toEqual(["-old"]);
  });

  test("until the alias that it was asked for by is given up", () => {
    const talk = inSync("r!", "other");
    talk.put(route("2", []));
    talk.change({ deletes: [{ type: CLUSTER, name: "old" }] });
    talk.turns();
    expect(removes(talk.hear(1, delta(ROUTE, { nonce: "3", error: no })))).toEqual([]);
    expect(removes(talk.hear(1, delta(ROUTE, { unsubscribe: ["other"] })))).toEqual([]);
    expect(removes(talk.hear(1, delta(ROUTE, { unsubscribe: ["r!"] })))).toEqual(["-old"]);
  });

  test("until the alias is given up of what is gone", () => {
    const talk = inSync("r!");
    deleteBoth(talk);
    expect(removes(talk.hear(1, delta(ROUTE, { nonce: "3", error: no })))).toEqual([]);
    expect(removes(talk.hear(1, delta(ROUTE, { subscribe: ["other"] })))).toEqual([]);
    expect(removes(talk.hear(1, delta(ROUTE, { unsubscribe: ["other"], nonce: "4" })))).toEqual([]);
    expect(removes(talk.hear(1, delta(ROUTE, { unsubscribe: ["r!"] })))).toEqual(["-old"]);
  });

  test("until the alias is there, where it was refused that it is missing", () => {
    const talk = inSync("r!");
    talk.hear(1, delta(ROUTE, { subscribe: ["none!"] }));
    talk.hear(1, delta(ROUTE, { nonce: "3", error: no }));
    talk.put(resource(ROUTE, "n", "1", { references: [], aliases: ["none!"] }));
    talk.turns();
    talk.hear(1, delta(ROUTE, { nonce: "4" }));
    deleteBoth(talk);
    expect(removes(talk.hear(1, delta(ROUTE, { nonce: "5" })))).toEqual(["-old"]);
  });

  test("of a full state until nothing is asked for that it spoke of", () => {
    const talk = new Conversation();
    const listener = (references = users): ReturnType<typeof resource> =>
      resource(LISTENER, "l", String(references.length), { references });
    talk.put(old, listener());
    talk.open(1, "sotw");
    talk.hear(1, sotw(CLUSTER, { node: node("n") }));
    talk.hear(1, sotw(CLUSTER, { nonce: "1", versionInfo: "1" }));
    talk.hear(1, sotw(LISTENER, { names: ["l"] }));
    talk.hear(1, sotw(LISTENER, { names: ["l"], nonce: "2" }));
    talk.put(listener([]));
    talk.change({ deletes: [{ type: CLUSTER, name: "old" }] });
    talk.turns();
    talk.hear(1, sotw(LISTENER, { names: ["l"], nonce: "3", error: no }));
    const holds = (): unknown =>
      [...talk.machine.streams()].flatMap(({ types }) => types.map((type) => type.pendingRemovals));
    expect(holds()).toEqual([["old"], []]);
    talk.hear(1, sotw(LISTENER, { names: ["l", "none"], nonce: "3" }));
    expect(holds()).toEqual([["old"], []]);
    talk.hear(1, sotw(LISTENER, { names: ["none"], nonce: "3" }));
    expect(holds()).toEqual([[], []]);
  });
});
