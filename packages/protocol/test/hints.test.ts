import { statusCode } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, sotw } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, failure, resource } from "./support/resources.ts";

describe("where names are hints (State of the World)", () => {
  const hinting = (): Conversation => {
    const talk = new Conversation({ dialect: { ignoreHints: true } });
    talk.open(1, "sotw");
    return talk;
  };
  const said = (replies: ReturnType<Conversation["turns"]>): readonly (readonly string[])[] =>
    replies.map(({ says }) => says);

  test("S-SUB-05 a name that is listed later is answered, for the client may have dropped what came unasked", () => {
    const talk = hinting();
    talk.put(resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1"));
    const [first] = talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    expect(first?.says).toEqual(["a@1", "b@1"]);
    const { nonce, version } = first ?? {};
    expect(said(talk.hear(1, sotw(ENDPOINTS, { names: ["a"], nonce, versionInfo: version })))).toEqual([]);
    const more = { names: ["a", "b"], nonce, versionInfo: version };
    expect(said(talk.hear(1, sotw(ENDPOINTS, more)))).toEqual([["b@1"]]);
  });

  test("S-SUB-06 a name that a stale request gave up is new when it is listed again", () => {
    const talk = hinting();
    talk.put(resource(ENDPOINTS, "a", "1"));
    const [first] = talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    talk.hear(1, sotw(ENDPOINTS, { names: ["b"], nonce: "stale" }));
    const again = { names: ["a"], nonce: first?.nonce, versionInfo: first?.version };
    expect(said(talk.hear(1, sotw(ENDPOINTS, again)))).toEqual([["a@1"]]);
  });

  test("S-SUB-06 nothing else is new after a stale request, which cannot give up what it never listed", () => {
    const talk = hinting();
    talk.put(resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1"));
    const [first] = talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"], nonce: "stale" }));
    const again = { names: ["a"], nonce: first?.nonce, versionInfo: first?.version };
    expect(said(talk.hear(1, sotw(ENDPOINTS, again)))).toEqual([]);
  });

  test("S-ERR-02 an error of what is not listed is not told again with every answer", () => {
    const talk = hinting();
    talk.put(resource(CLUSTER, "a", "1"), failure(CLUSTER, "b", statusCode.PERMISSION_DENIED));
    const answers: (readonly string[])[] = [];
    let heard = talk.hear(1, sotw(CLUSTER, { names: ["a"] }));
    for (let round = 0; round < 5; round++) {
      answers.push(...said(heard));
      const newest = heard.map(({ nonce, version }) => sotw(CLUSTER, { names: ["a"], nonce, versionInfo: version }));
      heard = newest.flatMap((answer) => talk.hear(1, answer));
    }
    // Which names were listed before there was an error is not kept: it is told once more.
    expect(answers).toEqual([
      ["a@1", "!b 7 why"],
      ["a@1", "!b 7 why"],
    ]);
  });
});

test("B-RES-10 a name given up and asked for again under a wildcard is said to be missing once", () => {
  const talk = new Conversation({ dialect: { deltaMissing: "empty-resource" } });
  talk.put(resource(CLUSTER, "b", "1"));
  talk.open(1, "delta");
  const [first] = talk.hear(1, delta(CLUSTER, { subscribe: ["*"] }));
  talk.hear(1, delta(CLUSTER, { nonce: first?.nonce }));
  for (const what of [{ subscribe: ["a"] }, { unsubscribe: ["a"] }, { subscribe: ["a"] }])
    talk.receive(1, delta(CLUSTER, what));
  expect(talk.turns().map(({ says }) => says)).toEqual([["?a"]]);
});
