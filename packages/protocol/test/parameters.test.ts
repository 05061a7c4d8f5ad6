import type { Constraints, TypeUrl } from "@xdskit/protocol";
import { type DeltaRequest, locatedTerm } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, node, type Said } from "./support/conversation.ts";
import { ROUTE, resource } from "./support/resources.ts";

const env = (value: string): Constraints => ({ kind: "value", key: "env", value });
const asked = (name: string, value = "p"): string => locatedTerm(name, new Map([["env", value]]));
const variant = (type: TypeUrl, label: string, value: string): ReturnType<typeof resource> =>
  resource(type, "a", label, { constraints: env(value) });
const says = (said: readonly Said[]): unknown => said.map((one) => one.says);

/** A client that subscribes with parameters, before anything is there. */
function client(...subscribe: readonly string[]): {
  readonly talk: Conversation;
  readonly ask: (what: Partial<DeltaRequest>) => readonly Said[];
} {
  const talk = new Conversation();
  talk.open(1, "delta");
  const ask = (what: Partial<DeltaRequest>): readonly Said[] =>
    talk.hear(1, delta(ROUTE, { hasLocators: true, node: node("n"), ...what }));
  talk.put(variant(ROUTE, "p", "p"), variant(ROUTE, "t", "t"), resource(ROUTE, "first", "1"));
  ask({ subscribe });
  return { talk, ask };
}

describe("S-LOC-07: a client that subscribes with parameters", () => {
  test("is sent once more what it asks for while it may hold another variant, and no other", () => {
    const { talk, ask } = client(asked("first"));
    talk.put(resource(ROUTE, "first", "2"));
    talk.put(variant(ROUTE, "p2", "p"), variant(ROUTE, "t2", "t"));
    expect(says(ask({ subscribe: [asked("a")] }))).toEqual([["a@p2"]]);
    expect(says(ask({ nonce: "1" }))).toEqual([["first@2"]]);
  });
});
