import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpAsk, startHttpLoad } from "./support/http-load.ts";
import {
  clusterOf,
  dumpedNames,
  type LoadedEnvoy,
  NO_LOSS,
  noteLosses,
  routeTo,
  startLoadedEnvoy,
} from "./support/loaded-envoy.ts";
import { times } from "./support/measure.ts";
import { modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { endpoints } from "./support/resource.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

/** An Envoy under steady load at an address that goes from one listener to another. */
describeWith("envoy", "Envoy", () => {
  describe.each(named(modes))("%s", (_name, mode) => {
    const stack = createStack();
    let world: LoadedEnvoy;

    beforeAll(async () => {
      // Longer than a request may take: at the end of the drain Envoy resets what a former listener still answers.
      world = await startLoadedEnvoy(stack, mode, [], {}, { drainSeconds: 10 });
    });
    afterAll(() => stack[Symbol.asyncDispose]());

    /** Listener `name` with routes of its own to a cluster, inline. */
    const at = (name: string, port: number, cluster: string): object => {
      const { virtual_hosts } = routeTo(cluster, "inline") as { readonly virtual_hosts: readonly object[] };
      const manager = { route_config: { name: "inline", virtual_hosts } };
      return world.listener({ name, port, manager, statPrefix: cluster });
    };
    const served = (name: string): readonly object[] => [clusterOf(mode, name), endpoints(name, [world.green.port])];

    test.each(["inline", "over RDS"])(
      "an address goes from one listener to another, which was elsewhere, in one edit: routes %s",
      async (from) => {
        const { site } = world;
        const isInline = from === "inline";
        const { name: body } = isInline ? world.green : world.blue;
        const listenerAt = (name: string, port: number): object =>
          isInline ? at(name, port, "given") : world.listener({ name, port, statPrefix: "given" });
        const [shared, left, right] = [await freePort(), await freePort(), await freePort()];
        const files = (round: number): readonly object[] => {
          const isLeft = round % 2 === 0;
          return [
            listenerAt("left", isLeft ? shared : left),
            listenerAt("right", isLeft ? right : shared),
            ...served("given"),
          ];
        };
        site.write({ "given.json": files(0) });
        await using loadThere = startHttpLoad({ port: shared, keptPerSecond: 0, newPerSecond: 200 });
        await loadThere.answeredBy(body, 5_000);
        await world.losses(loadThere, shared);
        const rounds = times(4, 20);
        for (let round = 1; round <= rounds; round++) {
          site.write({ "given.json": files(round) });
          const free = round % 2 === 0 ? right : left;
          await until(
            { says: `both are where they belong in round ${round}`, withinMs: 8_000, everyMs: 20 },
            async () => {
              const answers = [await httpAsk({ port: shared }), await httpAsk({ port: free })];
              return answers.every((answer) => answer.body === body);
            },
          );
        }
        const losses = noteLosses(
          `no loss: address given, ${from}`,
          world,
          rounds,
          await world.losses(loadThere, shared),
        );
        expect(losses).toEqual(NO_LOSS);
        await loadThere.stop();
        site.write({ "given.json": undefined });
        await onlyHttp(world);
      },
    );

    test("an address goes to a listener whose cluster gets its endpoints later: it is never without a listener", async () => {
      const { site, envoy } = world;
      const [shared, left, right] = [await freePort(), await freePort(), await freePort()];
      const files = (round: number): readonly object[] => {
        const isLeft = round % 2 === 0;
        const [before, now] = [`taken-${round - 1}`, `taken-${round}`];
        return [
          at("left-2", isLeft ? shared : left, isLeft ? now : before),
          at("right-2", isLeft ? right : shared, isLeft ? before : now),
          ...[before, now].map((name) => clusterOf(mode, name)),
          endpoints(before, [world.green.port]),
        ];
      };
      const last = (round: number): object => endpoints(`taken-${round}`, [world.green.port]);
      site.write({ "taken.json": [...files(0), last(0)] });
      await using loadThere = startHttpLoad({ port: shared, keptPerSecond: 0, newPerSecond: 200 });
      await loadThere.answeredBy(world.green.name, 5_000);
      await world.losses(loadThere, shared);
      const rounds = times(4, 20);
      for (let round = 1; round <= rounds; round++) {
        site.write({ "taken.json": files(round) });
        await until({ says: "the new cluster is there", withinMs: 5_000, everyMs: 20 }, async () => {
          const names = ["warming", "active"].map((state) =>
            dumpedNames(envoy, `dynamic_${state}_clusters`, "cluster"),
          );
          return (await Promise.all(names)).flat().includes(`taken-${round}`);
        });
        expect((await httpAsk({ port: shared })).body).toBe(world.green.name);
        site.write({ "taken.json": [...files(round), last(round)] });
        const free = round % 2 === 0 ? right : left;
        await until(
          { says: `both are where they belong in round ${round}`, withinMs: 8_000, everyMs: 20 },
          async () => {
            const answers = [await httpAsk({ port: shared }), await httpAsk({ port: free })];
            return answers.every(({ body }) => body === world.green.name);
          },
        );
      }
      const losses = noteLosses("no loss: address taken", world, rounds, await world.losses(loadThere, shared));
      expect(losses).toEqual(NO_LOSS);
      await loadThere.stop();
      site.write({ "taken.json": undefined });
      await onlyHttp(world);
    });
  });
});

async function onlyHttp({ envoy }: LoadedEnvoy): Promise<void> {
  await until({ says: "the other listeners are gone", withinMs: 8_000, everyMs: 20 }, async () => {
    return (await envoy.stats())("listener_manager.total_listeners_active") === 1;
  });
}
