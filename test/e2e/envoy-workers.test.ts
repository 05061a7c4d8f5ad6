import type { ServerAnswer } from "@xdskit/server";
import { describe, expect, test } from "vitest";
import { NO_LOSS, noteLosses, onlyCluster, startLoadedEnvoy, swapTo } from "./support/loaded-envoy.ts";
import { times } from "./support/measure.ts";
import { modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import type { XdsServer } from "./support/server.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

async function workersOf({ admin }: XdsServer): Promise<NonNullable<ServerAnswer["workers"]>> {
  return ((await admin("/api/v1/server")) as ServerAnswer).workers ?? [];
}

/** The process that serves Envoy. */
async function serving(server: XdsServer): Promise<number> {
  let pid: number | undefined;
  await until({ says: "a worker serves Envoy", withinMs: 30_000 }, async () => {
    pid = (await workersOf(server)).find(({ streams, state }) => streams > 0 && state === "ready")?.pid;
    return pid !== undefined;
  });
  return pid ?? 0;
}

/** An Envoy under steady load that worker processes serve. On a stream for each type, a round takes half a minute. */
describeWith("envoy", "Envoy", () => {
  describe.each(named(modes))("%s", (_name, mode) => {
    test("loses no request when the worker that serves it is killed while a cluster is swapped", async () => {
      await using stack = createStack();
      const world = await startLoadedEnvoy(stack, mode, ["--workers", "2"]);
      const rounds = times(mode.aggregated ? 4 : 2, 20);
      for (let round = 0; round < rounds; round++) {
        const backend = round % 2 === 0 ? world.green : world.blue;
        const pid = await serving(world.server);
        world.site.write(swapTo(mode, `killed-${round}`, backend.port));
        process.kill(pid, "SIGKILL");
        // Each stream reconnects after its own back-off.
        await world.load.answeredBy(backend.name, 60_000);
        await onlyCluster(world, `killed-${round}`, 90_000);
      }
      expect(noteLosses("killed workers", world, rounds, await world.losses())).toEqual(NO_LOSS);
    }, 300_000);

    test("loses no request while SIGHUP replaces the workers", async () => {
      await using stack = createStack();
      const world = await startLoadedEnvoy(stack, mode, ["--workers", "2"]);
      const rounds = times(mode.aggregated ? 3 : 1, 10);
      for (let round = 0; round < rounds; round++) {
        const backend = round % 2 === 0 ? world.green : world.blue;
        const before = (await workersOf(world.server)).map(({ pid }) => pid);
        process.kill(world.server.process().pid, "SIGHUP");
        world.site.write(swapTo(mode, `replaced-${round}`, backend.port));
        await until({ says: "all workers are replaced", withinMs: 30_000 }, async () => {
          const now = await workersOf(world.server);
          return now.length === 2 && now.every(({ pid, state }) => state === "ready" && !before.includes(pid));
        });
        await world.load.answeredBy(backend.name, 60_000);
        await onlyCluster(world, `replaced-${round}`, 90_000);
      }
      expect(noteLosses("replaced workers", world, rounds, await world.losses())).toEqual(NO_LOSS);
    }, 300_000);
  });
});
