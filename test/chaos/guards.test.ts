import { afterEach, expect, test } from "vitest";
import { note } from "../e2e/support/measure.ts";
import { describeWith, peerCommand } from "../e2e/support/peers.ts";
import { createStack } from "../e2e/support/stack.ts";
import { type GuardName, WithoutGuard } from "./support/guards.ts";
import { PLAY_SECONDS, plays } from "./support/plays.ts";

const needed = (["envoy", "toxiproxy", "porcupine", "etcd"] as const).find((name) => peerCommand(name) === undefined);

describeWith(needed ?? "etcd", "each guard", () => {
  let stack = createStack();
  afterEach(async () => {
    await stack[Symbol.asyncDispose]();
    stack = createStack();
  });

  test.each(Object.keys(plays) as GuardName[])(
    "%s is what keeps the promises: without it, the checkers find that they are broken",
    async (name) => {
      expect(await plays[name](stack, {}), "with it").toEqual([]);
      await stack[Symbol.asyncDispose]();
      const removed = stack.use(new WithoutGuard(name));
      const found = await plays[name](stack, removed.env);
      note("guards", name, "found without it", `${found.length}, such as ${found[0]}`);
      expect(removed.wasRemoved).toBe(true);
      expect(found, "without it").not.toEqual([]);
    },
    (PLAY_SECONDS + 60) * 2_000,
  );
});
