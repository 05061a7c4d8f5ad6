import { afterEach, expect, test } from "vitest";
import { describeWith, peerCommand } from "../e2e/support/peers.ts";
import { createStack } from "../e2e/support/stack.ts";
import { Random } from "./support/random.ts";
import { backups, restoreOld } from "./support/restore.ts";
import { startWorld } from "./support/world.ts";

const CLIENTS = 200;
const needed = (["envoy", "toxiproxy", "porcupine", "etcd"] as const).find((name) => peerCommand(name) === undefined);

describeWith(needed ?? "etcd", "an old backup", () => {
  const stack = createStack();
  afterEach(() => stack[Symbol.asyncDispose]());

  test.each(Object.keys(backups) as (keyof typeof backups)[])(
    "that is restored from %s under the servers changes nothing until they adopt it, and costs no request",
    async (name) => {
      const world = await startWorld(stack, { random: new Random(1), clients: CLIENTS });
      expect(await restoreOld(world, backups[name])).toEqual([]);
      expect((await Promise.all(world.envoys.map((one) => one.losses()))).flat()).toEqual([]);
    },
    180_000,
  );
});
