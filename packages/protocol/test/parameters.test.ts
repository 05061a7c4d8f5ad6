import type { Constraints, TypeUrl } from "@xdskit/protocol";
import { locatedTerm } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, node, says, talkWith } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ROUTE, resource } from "./support/resources.ts";

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

describe("a client that uses many parameters", () => {
  const hasLocators = true;
  const values = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${index}`);

  test.each([CLUSTER, ROUTE])(
    "and lists many names that are gone loses its stream, not the server its memory: %s",
    (type) => {
      const limits = { maxSubscriptionsPerStream: 40_000 };
      const endOf = (names: number): readonly string[] => {
        const talk = talkWith("delta", [resource(ROUTE, "r", "1")], limits);
        const versions = initialVersionsOf(values(names).map((name) => [name, "1"]));
        const initialVersions = { ...versions, byteLength: 10 * names };
        const subscribe = values(30).map((value) => asked("*", value));
        talk.hear(1, delta(type, { subscribe, initialVersions, hasLocators }));
        talk.turns();
        return talk.ended.map(([, { code, message }]) => `${code} ${message}`);
      };
      const message = "40001 names are kept for responses that were not accepted; at most 40000 per stream are";
      expect([endOf(100), endOf(2_000)]).toEqual([[], [`8 ${message}`]]);
    },
  );

  test("for everything or a collection counts as one that subscribes to many names", () => {
    const collection = "xdstp://x/t/d/*";
    const endOf = (...subscribe: readonly string[]): readonly string[] => {
      const talk = talkWith("delta", [], { maxSubscriptionsPerStream: 2_500 });
      talk.hear(1, delta(ROUTE, { subscribe, hasLocators }));
      return talk.ended.map(([, { message }]) => message);
    };
    const all = values(4).map((value) => asked("*", value));
    const ofCollection = values(4).map((value) => asked(collection, value));
    const message = (count: number): string => `subscribed to ${count} names; at most 2500 per stream are served`;
    expect([
      endOf(...all.slice(1)),
      endOf(...all),
      endOf(...ofCollection),
      endOf(...values(2_500).map((value) => asked("a", value))),
      endOf(...values(2_500).map((value) => asked(`xdstp://x/t/${value}/*`))),
    ]).toEqual([[], [message(3_004)], [message(3_004)], [], []]);
  });
});
