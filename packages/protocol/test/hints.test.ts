import { statusCode } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, says, sotw } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, failure, resource } from "./support/resources.ts";

describe("where names are hints (State of the World)", () => {
  const hinting = (): Conversation => {
    const talk = new Conversation({ dialect: { ignoreHints: true } });
    talk.open(1, "sotw");
    return talk;
  };

  test("S-SUB-05 a name that is listed later is answered, for the client may have dropped what came unasked", () => {
    const talk = hinting();
    talk.put(resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1"));
    expect(says(talk.subscribe(1, ENDPOINTS, ["a"]))).toEqual([["a@1", "b@1"]]);
    expect(says(talk.ack(1, ENDPOINTS))).toEqual([]);
    expect(says(talk.subscribe(1, ENDPOINTS, ["b"]))).toEqual([["b@1"]]);
  });

  test("S-SUB-06 a name that a stale request gave up is new when it is listed again", () => {
    const talk = hinting();
    talk.put(resource(ENDPOINTS, "a", "1"));
    talk.subscribe(1, ENDPOINTS, ["a"]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["b"], nonce: "stale" }));
    expect(says(talk.ack(1, ENDPOINTS))).toEqual([["a@1"]]);
  });

  test("S-SUB-06 nothing else is new after a stale request, which cannot give up what it never listed", () => {
    const talk = hinting();
    talk.put(resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1"));
    talk.subscribe(1, ENDPOINTS, ["a"]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"], nonce: "stale" }));
    expect(says(talk.ack(1, ENDPOINTS))).toEqual([]);
  });

  test("S-ERR-02 an error of what is not listed is not told again with every answer", () => {
    const talk = hinting();
    talk.put(resource(CLUSTER, "a", "1"), failure(CLUSTER, "b", statusCode.PERMISSION_DENIED));
    const answers = talk.settle(talk.subscribe(1, CLUSTER, ["a"]));
    // Which names were listed before there was an error is not kept: it is told once more.
    expect(says(answers)).toEqual([
      ["a@1", "!b 7 why"],
      ["a@1", "!b 7 why"],
    ]);
  });
});

test("B-RES-10 a name given up and asked for again under a wildcard is said to be missing once", () => {
  const talk = new Conversation({ dialect: { deltaMissing: "empty-resource" } });
  talk.put(resource(CLUSTER, "b", "1"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, ["*"]);
  talk.ack(1, CLUSTER);
  for (const what of [{ subscribe: ["a"] }, { unsubscribe: ["a"] }, { subscribe: ["a"] }])
    talk.receive(1, delta(CLUSTER, what));
  expect(says(talk.turns())).toEqual([["?a"]]);
});
