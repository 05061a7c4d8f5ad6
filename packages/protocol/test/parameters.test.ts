import type { Constraints, TypeUrl } from "@xdskit/protocol";
import { locatedTerm } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { ROUTE, resource } from "./support/resources.ts";

const env = (value: string): Constraints => ({ kind: "value", key: "env", value });
const asked = (name: string, value = "p"): string => locatedTerm(name, new Map([["env", value]]));
const variant = (type: TypeUrl, label: string, value: string): ReturnType<typeof resource> =>
  resource(type, "a", label, { constraints: env(value) });

describe("S-LOC-07: a client that subscribes with parameters", () => {
  test("is sent once more what it asks for while it may hold another variant, and no other", () => {
    const talk = new Conversation();
    const extras = { node: node("n"), hasLocators: true } as const;
    talk.open(1, "delta");
    talk.put(variant(ROUTE, "p", "p"), variant(ROUTE, "t", "t"), resource(ROUTE, "first", "1"));
    const [opening] = talk.subscribe(1, ROUTE, [asked("first")], extras);
    talk.put(resource(ROUTE, "first", "2"));
    talk.put(variant(ROUTE, "p2", "p"), variant(ROUTE, "t2", "t"));
    expect(says(talk.subscribe(1, ROUTE, [asked("a")], extras))).toEqual([["a@p2"]]);
    expect(says(talk.ack(1, ROUTE, opening?.nonce))).toEqual([["first@2"]]);
  });
});
