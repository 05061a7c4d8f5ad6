import { expect, test } from "vitest";
import { delta, node, sotw, talkWith } from "../../test/support/conversation.ts";
import { CLUSTER, plain } from "../../test/support/resources.ts";

test("no stream is due whose view a transaction does not concern", () => {
  const talk = talkWith("delta", [plain("a")]);
  talk.hear(1, delta(CLUSTER, {}));
  expect(talk.machine.isDue).toBe(false);
  talk.change({ layer: "other", puts: [plain("a", "9")] });
  expect(talk.machine.isDue).toBe(false);
  talk.put(plain("a"));
  expect([talk.machine.isDue, talk.machine.revision]).toEqual([false, 2]);
});

test("a system version is sent in delta only, from when it is set", () => {
  const talk = talkWith("delta", [plain("a")]);
  const set = { changes: [], systemVersion: "v7" };
  talk.machine.on({ kind: "transaction-committed", transaction: set });
  talk.open(2, "sotw");
  const versions = [talk.hear(1, delta(CLUSTER, {})), talk.hear(2, sotw(CLUSTER, {}))].map((said) => said[0]?.version);
  expect(versions[0]).toBe("v7");
  expect(versions[1]).not.toBe("v7");
  expect(talk.machine.revision).toBe(2);
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.put(plain("a", "2"));
  expect(talk.turns().map((one) => one.version)).toEqual(["v7"]);
});

test("streams and pollers whose node is known are told with their layers as they are described", () => {
  const talk = talkWith("delta", [plain("a")]);
  talk.hear(1, delta(CLUSTER, { node: node("n") }));
  talk.open(2, "sotw", CLUSTER);
  talk.poll(CLUSTER, { node: node("p") });
  const poll = talk.poll(CLUSTER, { node: node("q") });
  talk.poll(CLUSTER, { node: node("q"), versionInfo: talk.answers.get(poll)?.body?.version });
  const described = [...talk.machine.streams()];
  expect(described.map(({ node: of, isPoller, isUnconfirmed }) => [of?.id, isPoller, isUnconfirmed])).toEqual([
    ["n", undefined, undefined],
    [undefined, undefined, undefined],
    ["p", true, true],
    ["q", true, undefined],
  ]);
  expect([...talk.machine.placedStreams()]).toEqual(
    described.flatMap(({ node: of, peer, onlyType, layers, isPoller, isUnconfirmed }) =>
      of === undefined ? [] : { node: of, peer, onlyType, layers, isPoller, isUnconfirmed },
    ),
  );
});
