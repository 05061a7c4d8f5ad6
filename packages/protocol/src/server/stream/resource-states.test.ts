import { describe, expect, test } from "vitest";
import { Conversation, delta, node, sotw } from "../../../test/support/conversation.ts";
import { CLUSTER, ENDPOINTS, failure, resource, UNKNOWN } from "../../../test/support/resources.ts";

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
    expect(statesOf(talk)).toEqual(["a=1 stale #1", "b=1 stale #1"]);
    talk.put(c("a", "2"));
    expect(statesOf(talk)).toEqual(["a=1 stale #1", "b=1 stale #1"]);
    talk.receive(1, ask(CLUSTER, { nonce: "1" }));
    expect(statesOf(talk)).toEqual(["a=2 not-sent", "b=1 synced"]);
    talk.turns();
    expect(statesOf(talk)).toEqual(["a=2 stale #2", "b=1 synced"]);
    talk.hear(1, ask(CLUSTER, { nonce: "2" }));
    expect(statesOf(talk)).toEqual(["a=2 synced", "b=1 synced"]);
  });

  test("are refused until something else of that name is accepted; what was accepted before is not", () => {
    const talk = talkAbout(c("a", "1"), c("b", "1"));
    talk.hear(1, ask(CLUSTER, { node: node("n") }));
    talk.hear(1, ask(CLUSTER, { nonce: "1" }));
    talk.put(c("a", "bad"));
    talk.turns();
    talk.hear(1, ask(CLUSTER, { nonce: "2", error: refusal }));
    expect(statesOf(talk)).toEqual(["a=bad refused #2 no good", "b=1 synced"]);
    talk.put(c("a", "good"));
    talk.turns();
    expect(statesOf(talk)[0]).toBe("a=good stale #3");
    talk.hear(1, ask(CLUSTER, { nonce: "3" }));
    expect(statesOf(talk)).toEqual(["a=good synced", "b=1 synced"]);
  });

  test("that are asked for and do not exist are missing, or have an error in their place", () => {
    const talk = talkAbout(resource(ENDPOINTS, "e", "1", {}), failure(ENDPOINTS, "f", 13));
    const names = ["e", "none", "f"];
    talk.hear(1, variant === "sotw" ? sotw(ENDPOINTS, { names }) : delta(ENDPOINTS, { subscribe: names }));
    const error = failure(ENDPOINTS, "f", 13).error?.message;
    expect(statesOf(talk)).toEqual(["e=1 stale #1", "none missing", `f failed ${error}`]);
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
    expect(statesOf(talk)).toEqual(["a=bad refused #2 no good", "b=2 synced"]);
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
