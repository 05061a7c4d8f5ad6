import type { Resource, TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { ENDPOINTS, EXTENSION, ROUTE, resource } from "./support/resources.ts";

/** A client with `first` in flight after it changed, while `second` is gone. */
function inFlight(
  variant: "delta" | "sotw",
  type: TypeUrl,
  { second, userAgent = "" }: { readonly second: Resource; readonly userAgent?: string },
): { readonly talk: Conversation; readonly nonce: string | undefined } {
  const talk = new Conversation();
  talk.put(resource(type, "first", "1"), second);
  talk.open(1, variant);
  talk.subscribe(1, type, ["first"], { node: node("n", userAgent) });
  talk.ack(1, type);
  talk.put(resource(type, "first", "2"));
  const [newest] = talk.turns();
  talk.change({ deletes: [{ type, name: second.name }] });
  expect(talk.turns()).toEqual([]);
  return { talk, nonce: newest?.nonce };
}

describe("what is asked for in vain while an answer is in flight", () => {
  const second = (type: TypeUrl, aliases: readonly string[] = []): Resource =>
    resource(type, "second", "1", { aliases });

  test.each([
    ["a client that takes removals", ROUTE, "", "second", [], [["-second"]]],
    ["an Envoy that asks for a route", ROUTE, "envoy", "second", [], []],
    ["an Envoy that asks for an extension", EXTENSION, "envoy", "second", [], []],
    ["a client that asks by an alias", ROUTE, "", "alias", ["alias"], [["-alias"]]],
    ["an Envoy that asks by an alias", ROUTE, "envoy", "alias", ["alias"], []],
  ])("is told when it is there again as it was: %s", (_, type, userAgent, term, aliases, atOnce) => {
    const { talk, nonce } = inFlight("delta", type, { second: second(type, aliases), userAgent });
    expect(says(talk.subscribe(1, type, [term]))).toEqual(atOnce);
    talk.put(second(type, aliases));
    expect(says(talk.turns())).toEqual([]);
    expect(says(talk.ack(1, type, nonce))).toEqual([["second@1"]]);
    expect(says(talk.subscribe(1, type))).toEqual([]);
  });

  test.each([
    ["by its name", "second", []],
    ["by an alias", "alias", ["alias"]],
  ])("is told when it is there again as it was, in State of the World: %s", (_, term, aliases) => {
    const { talk, nonce } = inFlight("sotw", ENDPOINTS, { second: second(ENDPOINTS, aliases) });
    expect(says(talk.subscribe(1, ENDPOINTS, [term]))).toEqual([]);
    talk.put(second(ENDPOINTS, aliases));
    expect(says(talk.turns())).toEqual([]);
    expect(says(talk.ack(1, ENDPOINTS, nonce))).toEqual([["second@1"]]);
  });

  test.each([
    ["by its name", "second", []],
    ["by an alias", "alias", ["alias"]],
  ])(
    "S-SUB-19: so it is to a client that is behind with other names, in State of the World: %s",
    (_, term, aliases) => {
      const talk = new Conversation();
      talk.put(resource(ENDPOINTS, "first", "1"), second(ENDPOINTS, aliases));
      talk.open(1, "sotw");
      talk.subscribe(1, ENDPOINTS, ["first"], { node: node("n") });
      // Its position stays where the second one was there, because the first one changes after it.
      talk.put(resource(ENDPOINTS, "first", "2"));
      expect(says(talk.turns())).toEqual([]);
      talk.delete(ENDPOINTS, "second");
      expect(says(talk.subscribe(1, ENDPOINTS, [term]))).toEqual([]);
      talk.put(second(ENDPOINTS, aliases));
      expect(says(talk.turns())).toEqual([]);
      expect(says(talk.ack(1, ENDPOINTS))).toEqual([["first@2", "second@1"]]);
    },
  );

  test("S-SUB-19: what was sent by an alias while an answer was in flight is not sent twice when another name is given up", () => {
    const talk = new Conversation();
    talk.put(resource(ROUTE, "first", "1"));
    talk.open(1, "delta");
    const [opening] = talk.subscribe(1, ROUTE, ["first", "none"], { node: node("n") });
    talk.put(resource(ROUTE, "first", "2"));
    talk.put(resource(ROUTE, "third", "1", { aliases: ["alias"] }));
    expect(says(talk.subscribe(1, ROUTE, ["alias"]))).toEqual([["third@1"]]);
    expect(says(talk.unsubscribe(1, ROUTE, ["none"]))).toEqual([]);
    expect(says(talk.ack(1, ROUTE, opening?.nonce))).toEqual([["first@2"]]);
  });

  test("is not told to who gave it up meanwhile", () => {
    const { talk, nonce } = inFlight("sotw", ENDPOINTS, { second: second(ENDPOINTS) });
    talk.subscribe(1, ENDPOINTS, ["second"]);
    talk.unsubscribe(1, ENDPOINTS, ["second"]);
    talk.put(second(ENDPOINTS));
    expect(says(talk.ack(1, ENDPOINTS, nonce))).toEqual([]);
  });

  test("is told once when it was asked for again, and was there", () => {
    const { talk, nonce } = inFlight("delta", ROUTE, { second: second(ROUTE), userAgent: "envoy" });
    expect(says(talk.subscribe(1, ROUTE, ["second"]))).toEqual([]);
    talk.put(second(ROUTE));
    expect(says(talk.subscribe(1, ROUTE, ["second"]))).toEqual([["second@1"]]);
    expect(says(talk.ack(1, ROUTE, nonce))).toEqual([]);
  });

  test("is asked for again: what was told of it before does not count", () => {
    const { talk, nonce } = inFlight("delta", ROUTE, { second: second(ROUTE), userAgent: "envoy" });
    talk.put(resource(ROUTE, "third", "1"));
    expect(says(talk.subscribe(1, ROUTE, ["third"]))).toEqual([["third@1"]]);
    talk.delete(ROUTE, "third");
    expect(says(talk.subscribe(1, ROUTE, ["third"]))).toEqual([]);
    talk.put(resource(ROUTE, "third", "1"));
    expect(says(talk.ack(1, ROUTE, nonce))).toEqual([["third@1"]]);
  });
});
