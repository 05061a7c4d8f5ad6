import { describe, expect, test } from "vitest";
import { Conversation, delta, node, sotw } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, failure, ROUTE, resource, UNKNOWN } from "../../../test/support/resources.ts";
import { typeStream } from "../../../test/support/type-streams.ts";
import type { Resource } from "../../resource/resource.ts";
import { CurrentViews } from "../cache/current-view.ts";
import { PendingRemovals } from "../cache/pending-removals.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { resourceStates } from "./resource-states.ts";

const c = (name: string, label: string): ReturnType<typeof resource> =>
  resource(CLUSTER, name, label, { references: [] });
const text = new TextDecoder();
const refusal = { code: 3, message: "no good" };

/** `a=1 synced`, in short. */
function statesOf(talk: Conversation, stream = 1): readonly string[] {
  return [...talk.machine.resourceStates(stream)].map(({ name, status, resource: about, nonce, error }) =>
    [
      about === undefined ? name : text.decode(about.bytes),
      status,
      ...(nonce === undefined ? [] : [`#${nonce}`]),
      ...(error === undefined ? [] : [error.message]),
    ].join(" "),
  );
}

describe.each(["sotw", "delta"] as const)("S-CSD-02 resources of a %s stream", (variant) => {
  const ask = variant === "sotw" ? sotw : delta;
  function talkAbout(...puts: readonly ReturnType<typeof resource>[]): Conversation {
    const talk = new Conversation();
    talk.put(...puts);
    talk.open(1, variant);
    return talk;
  }

  test("walk from not sent over sent to accepted, and so does a change", () => {
    const talk = talkAbout(c("a", "1"), c("b", "1"));
    talk.receive(1, ask(CLUSTER, { node: node("n") }));
    expect(statesOf(talk)).toEqual(["a=1 not-sent", "b=1 not-sent"]);
    talk.turns();
    expect(statesOf(talk)).toEqual(["a=1 pending #1", "b=1 pending #1"]);
    talk.put(c("a", "2"));
    expect(statesOf(talk)).toEqual(["a=1 pending #1", "b=1 pending #1"]);
    talk.receive(1, ask(CLUSTER, { nonce: "1" }));
    expect(statesOf(talk)).toEqual(["a=2 not-sent", "b=1 acked"]);
    talk.turns();
    expect(statesOf(talk)).toEqual(["a=2 pending #2", "b=1 acked"]);
    talk.hear(1, ask(CLUSTER, { nonce: "2" }));
    expect(statesOf(talk)).toEqual(["a=2 acked", "b=1 acked"]);
  });

  test("are refused until something else of that name is accepted; what was accepted before is not", () => {
    const talk = talkAbout(c("a", "1"), c("b", "1"));
    talk.hear(1, ask(CLUSTER, { node: node("n") }));
    talk.hear(1, ask(CLUSTER, { nonce: "1" }));
    talk.put(c("a", "bad"));
    talk.turns();
    talk.hear(1, ask(CLUSTER, { nonce: "2", error: refusal }));
    expect(statesOf(talk)).toEqual(["a=bad nacked #2 no good", "b=1 acked"]);
    talk.put(c("a", "good"));
    talk.turns();
    expect(statesOf(talk)[0]).toBe("a=good pending #3");
    talk.hear(1, ask(CLUSTER, { nonce: "3" }));
    expect(statesOf(talk)).toEqual(["a=good acked", "b=1 acked"]);
  });

  test("that are asked for and do not exist are missing, or have an error in their place", () => {
    const talk = talkAbout(resource(ENDPOINTS, "e", "1", {}), failure(ENDPOINTS, "f", 13));
    const names = ["e", "none", "f"];
    talk.hear(1, variant === "sotw" ? sotw(ENDPOINTS, { names }) : delta(ENDPOINTS, { subscribe: names }));
    const error = failure(ENDPOINTS, "f", 13).error?.message;
    expect(statesOf(talk)).toEqual(["e=1 pending #1", "none does-not-exist", `f received-error ${error}`]);
    expect([...talk.machine.resourceStates(1)].map(({ isSent }) => isSent)).toEqual([true, true, true]);
  });

  test("of a type that nobody knows are unknown", () => {
    const talk = talkAbout();
    talk.hear(1, variant === "sotw" ? sotw(UNKNOWN, { names: ["x"] }) : delta(UNKNOWN, { subscribe: ["x"] }));
    expect(statesOf(talk)).toEqual(["x unknown"]);
  });

  test("of a stream that is closed are none", () => {
    const talk = talkAbout(c("a", "1"));
    talk.hear(1, ask(CLUSTER, { node: node("n") }));
    talk.machine.on({ kind: "stream-closed", stream: 1 });
    expect(statesOf(talk)).toEqual([]);
  });
});

describe("S-CSD-02 a delta client", () => {
  const e = (name: string, label: string, extras: Parameters<typeof resource>[3] = {}): ReturnType<typeof resource> =>
    resource(ENDPOINTS, name, label, extras);

  test("has each resource once, however it asks for it, and none on demand unless it asks for that one", () => {
    const subscribed = (...subscribe: readonly string[]): readonly string[] => {
      const talk = new Conversation();
      talk.put(e("a", "1", { aliases: ["b", "d"] }), e("c", "1", { onDemand: true }));
      talk.open(1, "delta");
      talk.hear(1, delta(ENDPOINTS, { subscribe }));
      return statesOf(talk);
    };
    const [a, c] = ["a=1 pending #1", "c=1 pending #1"];
    expect([subscribed("*"), subscribed("*", "d", "c"), subscribed("b", "a", "d")]).toEqual([[a], [a, c], [a]]);
  });

  test("has not been sent a name before the first answer, nor one that it asked for since", () => {
    const talk = new Conversation();
    talk.put(e("a", "1"));
    talk.open(1, "delta");
    const isSent = (): readonly string[] =>
      [...talk.machine.resourceStates(1)].map((one) => `${one.name} ${one.status} ${one.isSent}`);
    talk.receive(1, delta(ENDPOINTS, { subscribe: ["a", "none"] }));
    expect(isSent()).toEqual(["a not-sent false", "none does-not-exist false"]);
    talk.turns();
    talk.receive(1, delta(ENDPOINTS, { subscribe: ["other"] }));
    expect(isSent()).toEqual(["a pending true", "none does-not-exist true", "other does-not-exist false"]);
  });

  test("still has what is deleted until it is told, and what it was told of it in between", () => {
    const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
    const routeTo = (cluster: string): ReturnType<typeof resource> =>
      resource(ROUTE, "r", cluster, { references: [{ type: CLUSTER, name: cluster }] });
    talk.put(c("old", "1"), c("bad", "1"), routeTo("old"));
    talk.open(1, "delta");
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.hear(1, delta(ROUTE, { subscribe: ["r"], nonce: "2" }));
    talk.put(c("bad", "2"));
    talk.turns();
    talk.hear(1, delta(CLUSTER, { nonce: "3", error: refusal }));
    talk.change({
      puts: [c("new", "1"), routeTo("new")],
      deletes: ["old", "bad"].map((name) => ({ type: CLUSTER, name })),
    });
    talk.turns();
    const pending = ["bad=2 nacked #3 no good", "old acked"];
    expect([...statesOf(talk)].sort()).toEqual([...pending, "new=1 pending #4", "r=old pending #2"].sort());
    talk.put(c("old", "again"));
    expect(statesOf(talk).filter((state) => state.startsWith("old"))).toEqual(["old=again not-sent"]);
  });

  test("has a pending removal with its content, where that is kept", () => {
    const type = typeStream(ENDPOINTS, ["a"]);
    const current = new CurrentViews(new SharedResponses(digest)).of(viewOf(new WrittenLayer("base", [e("a", "1")])));
    const was = { whole: e("whole", "1"), mark: { version: "1", ttlMs: undefined }, none: undefined };
    const names = new Map(Object.entries(was).map(([name, before]) => [name, { was: before as Resource, since: 1 }]));
    names.set("a", { was: e("a", "0"), since: 1 });
    const states = resourceStates(Object.assign(type, { pendingRemovals: new PendingRemovals(names) }), current);
    expect([...states].map((one) => [one.name, one.status, one.resource, one.isSent])).toEqual([
      ["a", "not-sent", e("a", "1"), false],
      ["whole", "acked", was.whole, false],
      ["mark", "acked", undefined, false],
      ["none", "acked", undefined, false],
    ]);
  });

  test("is stale by the newest response with the name", () => {
    const talk = new Conversation();
    talk.put(e("a", "1"), e("b", "1"));
    talk.open(1, "delta");
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["b"] }));
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    expect(statesOf(talk)).toEqual(["a=1 pending #3", "b=1 pending #2"]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "3" }));
    expect(statesOf(talk)).toEqual(["a=1 acked", "b=1 acked"]);
  });
});

describe("S-CSD-02 a State of the World client", () => {
  test("that is sent once more what it ACKed still has it", () => {
    const talk = new Conversation();
    talk.put(c("a", "1"), c("b", "1"));
    talk.open(1, "sotw");
    talk.hear(1, sotw(CLUSTER, {}));
    talk.hear(1, sotw(CLUSTER, { nonce: "1" }));
    talk.put(c("b", "2"));
    talk.turns();
    expect(statesOf(talk)).toEqual(["a=1 acked", "b=2 pending #2"]);
    talk.hear(1, sotw(CLUSTER, { nonce: "2", error: refusal }));
    expect(statesOf(talk)).toEqual(["a=1 acked", "b=2 nacked #2 no good"]);
  });

  test("has a resource by its response, which a heartbeat only repeats", () => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "a", "1", { ttlMs: 3_000 }));
    talk.open(1, "sotw");
    const clientFeatures = ["xds.config.supports-resource-ttl", "xds.config.resource-in-sotw"];
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"], node: { ...node("n"), clientFeatures } }));
    const beats = (): readonly string[] =>
      talk.asked
        .splice(0)
        .flatMap((effect) => (effect.kind === "start-timer" && effect.ms === 1_000 ? [effect.timer] : []))
        .flatMap((timer) => {
          talk.fire(timer);
          return talk.turns().map(({ nonce }) => nonce);
        });
    expect([beats(), beats()]).toEqual([[], ["2"]]);
    expect(statesOf(talk)).toEqual(["a=1 pending #1"]);
  });

  test("goes on with a resource by name that is deleted, if it has it", () => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1"));
    talk.open(1, "sotw");
    talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b", "none"] }));
    talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b", "none"], nonce: "1" }));
    talk.change({ deletes: [{ type: ENDPOINTS, name: "a" }] });
    talk.turns();
    expect(statesOf(talk)).toEqual(["a=1 acked", "b=1 acked", "none does-not-exist"]);
  });
});

describe("a delta client that refused one resource", () => {
  test("S-CSD-02 still refuses it when it accepted another one since", () => {
    const talk = new Conversation();
    talk.put(c("a", "1"), c("b", "1"));
    talk.open(1, "delta");
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.put(c("a", "bad"));
    talk.turns();
    talk.hear(1, delta(CLUSTER, { nonce: "2", error: refusal }));
    talk.put(c("b", "2"));
    talk.turns();
    talk.hear(1, delta(CLUSTER, { nonce: "3" }));
    expect(statesOf(talk)).toEqual(["a=bad nacked #2 no good", "b=2 acked"]);
  });
});

describe("the streams of a client", () => {
  const clients = (talk: Conversation): readonly (string | undefined)[] =>
    [...talk.machine.streams()].map(({ client }) => client);

  test("are one client's on one connection, aggregated or not, and another's on another", () => {
    const talk = new Conversation();
    talk.put(c("a", "1"));
    talk.open(1, "delta", undefined, 7);
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.open(2, "delta", CLUSTER, 7);
    talk.hear(2, delta(CLUSTER, { node: node("n") }));
    talk.open(3, "delta", undefined, 8);
    talk.hear(3, delta(CLUSTER, { node: node("n") }));
    talk.open(4, "delta", undefined, 7);
    talk.hear(4, delta(CLUSTER, { node: node("other") }));
    talk.open(5, "delta", undefined, 7);
    expect(clients(talk)).toEqual(["7 n", "7 n", "8 n", "7 other", undefined]);
  });

  test("are one client's over several connections where no other has its id", () => {
    const talk = new Conversation();
    talk.put(c("a", "1"));
    talk.open(1, "delta", CLUSTER, 7);
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.open(2, "delta", ENDPOINTS, 8);
    talk.hear(2, delta(ENDPOINTS, { node: node("n"), subscribe: ["e"] }));
    expect(clients(talk)).toEqual(["7 n", "7 n"]);
  });
});
