import { expect, test } from "vitest";
import { delta, talkWith } from "../../../test/support/conversation.ts";
import { CLUSTER, plain } from "../../../test/support/resources.ts";

test("at most a hundred names that nothing answers to are described", () => {
  const talk = talkWith("delta", [plain("a")]);
  talk.hear(1, delta(CLUSTER, { subscribe: Array.from({ length: 120 }, (_, i) => `x${i}`) }));
  const type = [...talk.machine.streams()][0]?.types[0];
  expect([type?.names, type?.doesNotExist.length]).toEqual([120, 100]);
});
