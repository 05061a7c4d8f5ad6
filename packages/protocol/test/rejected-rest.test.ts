import type { TypeUrl, Variant } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { type Conversation, type Said, says, talkWith } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, EXTENSION, LISTENER, plain, ROUTE, resource } from "./support/resources.ts";

/** These names, each in one version. */
const all = (type: TypeUrl, names: readonly string[], label: string): ReturnType<typeof resource>[] =>
  names.map((name) => resource(type, name, label));

/** A client that holds version 1 of these names, and rejected version 2 of all of them in one response. */
function rejected(
  variant: Variant,
  type: TypeUrl,
  names: readonly string[],
  beside: readonly string[] = [],
): Conversation {
  const talk = talkWith(variant, all(type, [...names, ...beside], "1"));
  talk.settle(talk.subscribe(1, type, [...names, ...beside]));
  talk.put(...all(type, names, "2"));
  expect(says(talk.turns())).toEqual([names.map((name) => `${name}@2`)]);
  expect(talk.nack(1, type)).toEqual([]);
  return talk;
}

function put(talk: Conversation, type: TypeUrl, name: string, label: string): readonly Said[] {
  talk.put(resource(type, name, label));
  return talk.turns();
}

/** Answers each of these responses: those that contain one of these versions with a NACK. */
function answer(talk: Conversation, said: readonly Said[], ...bad: readonly string[]): void {
  for (const { type, nonce, says: content } of said) {
    const isBad = content.some((what) => bad.includes(what));
    expect(isBad ? talk.nack(1, type, nonce) : talk.ack(1, type, nonce)).toEqual([]);
  }
}

function stateOf(talk: Conversation, of: TypeUrl): string {
  const [stream] = [...talk.machine.streams()];
  const state = stream?.types.find(({ type }) => type === of);
  if (state === undefined) return "unknown";
  return state.nacked === undefined ? "acked" : `nacked ${state.nacked.names.join(" ")}`;
}

describe.each([
  ["sotw", ROUTE],
  ["sotw", ENDPOINTS],
  ["sotw", EXTENSION],
  ["delta", ROUTE],
  ["delta", LISTENER],
  ["delta", CLUSTER],
] as const)("T-A5 what a response in %s was rejected with (%s)", (variant, type) => {
  const names = ["r0", "r1", "r2", "r3", "r4"];

  test("is resent when one of its resources changes, after that one, in two halves", () => {
    const talk = rejected(variant, type, names);
    const said = put(talk, type, "r3", "3");
    expect(says(said)).toEqual([["r3@3"], ["r0@2", "r1@2"], ["r2@2", "r4@2"]]);
    answer(talk, said);
    expect(stateOf(talk, type)).toBe("acked");
    expect(says(put(talk, type, "r3", "4"))).toEqual([["r3@4"]]);
  });

  test("is left alone by changes of other resources", () => {
    const talk = rejected(variant, type, names, ["r7"]);
    const said = put(talk, type, "r7", "2");
    expect(says(said)).toEqual([["r7@2"]]);
    answer(talk, said);
    expect(says(put(talk, type, "r3", "3"))).toEqual([["r3@3"], ["r0@2", "r1@2"], ["r2@2", "r4@2"]]);
  });

  test("does not keep a good change from the client, and is isolated by halves while it is bad", () => {
    const talk = rejected(variant, type, names);
    const first = put(talk, type, "r0", "3");
    expect(says(first)).toEqual([["r0@3"], ["r1@2", "r2@2"], ["r3@2", "r4@2"]]);
    answer(talk, first, "r3@2");
    expect(stateOf(talk, type)).toBe("nacked r3 r4");
    const second = put(talk, type, "r1", "3");
    expect(says(second)).toEqual([["r1@3"]]);
    answer(talk, second);
    const third = put(talk, type, "r4", "3");
    expect(says(third)).toEqual([["r4@3"], ["r3@2"]]);
    answer(talk, third, "r3@2");
    const last = put(talk, type, "r3", "3");
    expect(says(last)).toEqual([["r3@3"]]);
    answer(talk, last);
    expect(stateOf(talk, type)).toBe("acked");
  });

  test("is resent once per change to a client that rejects everything", () => {
    const talk = rejected(variant, type, ["r0", "r1"]);
    for (const label of ["3", "4"]) {
      const said = put(talk, type, "r0", label);
      expect(says(said)).toEqual(label === "3" ? [["r0@3"], ["r1@2"]] : [["r0@4"]]);
      answer(talk, said, "r0@3", "r0@4", "r1@2");
      expect(talk.turns()).toEqual([]);
    }
  });
});

test("S-ORD-05 a Cluster is removed once the rest of a rejected response was accepted, with a removal that was in it", () => {
  const users = [{ type: CLUSTER, name: "c1" }];
  const listener = (name: string, label: string): ReturnType<typeof resource> =>
    resource(LISTENER, name, label, { references: users });
  const talk = talkWith("delta", [plain("c1"), plain("c3"), listener("l0", "1"), listener("l1", "1")]);
  for (const type of [CLUSTER, LISTENER]) talk.settle(talk.subscribe(1, type));
  talk.change({ puts: [listener("l1", "2"), listener("l2", "1")], deletes: [{ type: LISTENER, name: "l0" }] });
  expect(says(talk.turns())).toEqual([["l1@2", "l2@1", "-l0"]]);
  talk.nack(1, LISTENER);
  talk.put(listener("l1", "3"));
  const said = talk.turns();
  expect(says(said)).toEqual([["l1@3"], ["l2@1", "-l0"]]);
  answer(talk, said);
  talk.delete(CLUSTER, "c3");
  expect(says(talk.turns())).toEqual([["-c3"]]);
});

test("the deletion of a resource in State of the World, which the client is not told, resends what was rejected with it", () => {
  const talk = rejected("sotw", ROUTE, ["r0", "r1", "r2"]);
  talk.delete(ROUTE, "r1");
  const said = talk.turns();
  expect(says(said)).toEqual([["r0@2"], ["r2@2"]]);
  answer(talk, said);
});

test("what the client unsubscribed from, or asked for since, is not resent", () => {
  const talk = rejected("sotw", ROUTE, ["r0", "r1", "r2", "r3"]);
  expect(says(talk.unsubscribe(1, ROUTE, ["r1"]))).toEqual([]);
  expect(says(talk.unsubscribe(1, ROUTE, ["r2"]))).toEqual([]);
  talk.settle(talk.subscribe(1, ROUTE, ["r2"]));
  expect(says(put(talk, ROUTE, "r3", "3"))).toEqual([["r3@3"], ["r0@2"]]);
});

test("a bad resource among many is isolated by a number of resends that does not grow with the changes", () => {
  const names = Array.from({ length: 64 }, (_, i) => `r${i}`);
  const talk = rejected("sotw", ENDPOINTS, names);
  let resent = 0;
  for (const name of names.slice(1)) {
    const said = put(talk, ENDPOINTS, name, "3");
    resent += said.slice(1).reduce((sum, one) => sum + one.says.length, 0);
    answer(talk, said, "r0@2");
  }
  expect(resent).toBeLessThan(2 * names.length);
});
