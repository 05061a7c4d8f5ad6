import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliveries } from "./support/admin.ts";
import {
  clusterNames,
  clusterOf,
  type LoadedEnvoy,
  NO_LOSS,
  noteLosses,
  routeTo,
  startLoadedEnvoy,
} from "./support/loaded-envoy.ts";
import { times } from "./support/measure.ts";
import { modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { aggregateCluster, endpoints } from "./support/resource.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

/** An Envoy under steady load through an aggregate cluster while the aggregate and its members are replaced. */
describeWith("envoy", "Envoy", () => {
  describe.each(named(modes))("%s", (_name, mode) => {
    const stack = createStack();
    let world: LoadedEnvoy;

    beforeAll(async () => {
      world = await startLoadedEnvoy(stack, mode);
    });
    afterAll(() => stack[Symbol.asyncDispose]());

    test("loses no request while an aggregate cluster and its members are replaced by others", async () => {
      const rounds = times(6, 30);
      for (let round = 0; round < rounds; round++) {
        const backend = round % 2 === 0 ? world.green : world.blue;
        world.site.write({
          "swap.json": [
            aggregateCluster(`all-${round}`, [`one-${round}`, `two-${round}`]),
            ...["one", "two"].map((name) => clusterOf(mode, `${name}-${round}`)),
            ...["one", "two"].map((name) => endpoints(`${name}-${round}`, [backend.port])),
          ],
          "routes.json": [routeTo(`all-${round}`)],
        });
        await world.load.answeredBy(backend.name, 5_000);
        await clustersAre(world, [`all-${round}`, `one-${round}`, `two-${round}`]);
      }
      await settle(world, "aggregates", rounds);
    });

    test("moves no request to an aggregate cluster whose member has its endpoints late", async () => {
      const { site, load, blue, green } = world;
      const rounds = times(2, 10);
      for (let round = 0; round < rounds; round++) {
        const backend = round % 2 === 0 ? green : blue;
        const member = `late-${round}`;
        const clusters = [aggregateCluster(`all-${member}`, [member]), clusterOf(mode, member)];
        site.write({ "swap.json": clusters, "routes.json": [routeTo(`all-${member}`)] });
        await waitsFor(world, member);
        site.write({ "swap.json": [...clusters, endpoints(member, [backend.port])] });
        await load.answeredBy(backend.name, 5_000);
        await clustersAre(world, [`all-${member}`, member]);
      }
      await settle(world, "late members of aggregates", rounds);
    });

    test.each(["at once", "late"])(
      "loses no request while the member of an aggregate cluster gets another name, with endpoints %s",
      async (when) => {
        const { site, load, blue, green } = world;
        const of = (round: number): string => `${when === "late" ? "slow" : "prompt"}-${round}`;
        const files = (round: number): readonly object[] => [
          aggregateCluster("same", [of(round)]),
          clusterOf(mode, of(round)),
        ];
        site.write({
          "swap.json": [...files(0), endpoints(of(0), [blue.port])],
          "routes.json": [routeTo("same")],
        });
        await clustersAre(world, ["same", of(0)]);
        const rounds = times(6, 30);
        for (let round = 1; round <= rounds; round++) {
          const backend = round % 2 === 1 ? green : blue;
          if (when === "late") {
            site.write({ "swap.json": files(round) });
            await waitsFor(world, of(round));
          }
          site.write({ "swap.json": [...files(round), endpoints(of(round), [backend.port])] });
          await load.answeredBy(backend.name, 5_000);
          await clustersAre(world, ["same", of(round)]);
        }
        await settle(world, `members of an aggregate, endpoints ${when}`, rounds);
      },
    );
  });
});

/** Waits until something waits for this cluster, and stays there for a while. */
async function waitsFor({ server }: LoadedEnvoy, name: string): Promise<void> {
  await until({ says: `something waits for ${name}`, withinMs: 3_000 }, async () =>
    (await deliveries(server)).some(({ waits }) => waits?.name === name),
  );
  await watchFor(300);
}

/** Waits until these are Envoy's only clusters. */
async function clustersAre({ envoy }: LoadedEnvoy, names: readonly string[]): Promise<void> {
  await until({ says: `the clusters are ${names.join()}`, withinMs: 5_000 }, async () => {
    return (await clusterNames(envoy)).join() === names.toSorted().join();
  });
}

/** Requests were served since the last call, none was lost, and the long response continues. */
async function settle(world: LoadedEnvoy, what: string, rounds: number): Promise<void> {
  const losses = await world.losses();
  expect(await world.long.goesOn(2_000)).toBeGreaterThan(0);
  expect(losses.total).toBeGreaterThan(0);
  expect(noteLosses(`no loss: ${what}`, world, rounds, losses)).toEqual(NO_LOSS);
}
