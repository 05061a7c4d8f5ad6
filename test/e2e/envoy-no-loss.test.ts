import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliveries } from "./support/admin.ts";
import { isConnected } from "./support/envoy.ts";
import {
  clusterNames,
  clusterOf,
  dumpedNames,
  type LoadedEnvoy,
  NO_LOSS,
  noteLosses,
  onlyCluster,
  routeTo,
  startLoadedEnvoy,
  swapTo,
} from "./support/loaded-envoy.ts";
import { times } from "./support/measure.ts";
import { configSource, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, staticCluster } from "./support/resource.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

/** An Envoy under steady load while everything that its requests depend on is replaced. */
describeWith("envoy", "Envoy", () => {
  describe.each(named(modes))("%s", (_name, mode) => {
    const stack = createStack();
    let world: LoadedEnvoy;

    beforeAll(async () => {
      world = await startLoadedEnvoy(stack, mode);
    });
    afterAll(() => stack[Symbol.asyncDispose]());

    test("loses no request while a cluster is swapped for another under its route", async () => {
      const { site, load } = world;
      const rounds = times(8, 50);
      for (let round = 0; round < rounds; round++) {
        const backend = round % 2 === 0 ? world.green : world.blue;
        site.write(swapTo(mode, `swap-${round}`, backend.port));
        await load.answeredBy(backend.name, 5_000);
        await onlyCluster(world, `swap-${round}`);
      }
      await settle(world, "swaps", rounds);
    });

    test("loses no request while a cluster gets another name", async () => {
      const rounds = times(8, 50);
      for (let round = 0; round < rounds; round++) {
        world.site.write(swapTo(mode, `name-${round}`, world.blue.port));
        await onlyCluster(world, `name-${round}`);
      }
      await settle(world, "renames", rounds);
    });

    test("moves no request to a cluster whose endpoints are late", async () => {
      const { site, load, green, server } = world;
      site.write({ ...swapTo(mode, "late", green.port), "swap.json": [clusterOf(mode, "late")] });
      await until({ says: "the route waits", withinMs: 3_000 }, async () =>
        (await deliveries(server)).some(({ waits }) => waits?.name === "late"),
      );
      await watchFor(500);
      site.write({ "late.json": [endpoints("late", [green.port])] });
      await load.answeredBy(green.name, 3_000);
      await onlyCluster(world, "late");
      site.write({ ...swapTo(mode, "late", green.port), "late.json": undefined });
      await settle(world, "late endpoints", 1);
    });

    test("loses no request where the source of endpoints is always behind, and the target changes meanwhile", async () => {
      const { site, load, server } = world;
      const rounds = times(3, 20);
      for (let round = 0; round < rounds; round++) {
        const backend = round % 2 === 0 ? world.blue : world.green;
        const name = `slow-${round}`;
        // A target that is replaced before its endpoints exist.
        site.write({
          "swap.json": [clusterOf(mode, `passed-over-${round}`)],
          "routes.json": [routeTo(`passed-over-${round}`)],
        });
        await until({ says: "the route waits", withinMs: 3_000 }, async () =>
          (await deliveries(server)).some(({ waits }) => waits?.name === `passed-over-${round}`),
        );
        site.write({ "swap.json": [clusterOf(mode, name)], "routes.json": [routeTo(name)] });
        await until({ says: "the route waits for the newer target", withinMs: 3_000 }, async () =>
          (await deliveries(server)).some(({ waits }) => waits?.name === name),
        );
        await watchFor(200);
        site.write({ "endpoints.json": [endpoints(name, [backend.port])] });
        await load.answeredBy(backend.name, 5_000);
        await onlyCluster(world, name);
      }
      const last = `slow-${rounds - 1}`;
      const backend = rounds % 2 === 1 ? world.blue : world.green;
      site.write({
        "swap.json": [clusterOf(mode, last), endpoints(last, [backend.port])],
        "endpoints.json": undefined,
      });
      await settle(world, "slow endpoints", rounds);
    });

    test("keeps the cluster that a refused route was to replace, and removes it after the next one", async () => {
      const { site, load, green, server } = world;
      site.write(swapTo(mode, "before", world.blue.port));
      await onlyCluster(world, "before");
      const refused = [{ ...routeTo("fixed"), virtual_hosts: [{ name: "all", domains: ["*"], routes: [BAD_ROUTE] }] }];
      site.write({ ...swapTo(mode, "fixed", green.port), "routes.json": refused });
      await until({ says: "Envoy refuses the route", withinMs: 3_000 }, async () =>
        (await deliveries(server)).some(({ shortName, state }) => shortName === "rds" && state === "nacked"),
      );
      await watchFor(500);
      expect(await clusterNames(world.envoy)).toEqual(["before", "fixed"]);
      const row = (await deliveries(server)).find(({ pendingRemovals }) => pendingRemovals !== undefined);
      expect(row).toMatchObject({
        pendingRemovals: ["before"],
        waits: { for: "users", shortName: "rds", nacked: true },
      });
      site.write({ "routes.json": [routeTo("fixed")] });
      await load.answeredBy(green.name, 3_000);
      await onlyCluster(world, "fixed");
      await settle(world, "refused route", 1);
    });

    test("loses no request while its endpoints are scaled to one and back", async () => {
      const { site, blue, green } = world;
      const rounds = times(4, 20);
      for (let round = 0; round < rounds; round++) {
        const ports = round % 2 === 0 ? [blue.port, green.port] : [blue.port];
        site.write({ "swap.json": [clusterOf(mode, "fixed"), endpoints("fixed", ports)] });
        await until({ says: "Envoy has them", withinMs: 3_000 }, async () => {
          return (await world.envoy.stats())("cluster.fixed.membership_total") === ports.length;
        });
      }
      await settle(world, "scaled", rounds);
    });

    test("loses no request while everything that none goes through is deleted at once", async () => {
      const { site, envoy, green } = world;
      site.write(swapTo(mode, "fixed", green.port));
      await onlyCluster(world, "fixed");
      const rounds = times(2, 10);
      for (let round = 0; round < rounds; round++) {
        const names = ["x", "y", "z"].map((letter) => `unused-${round}-${letter}`);
        const [x = "", y = ""] = names;
        site.write({
          "unused.json": [
            ...names.flatMap((name) => [clusterOf(mode, name), endpoints(name, [green.port])]),
            ...[routeTo(x, "unused-routes"), routeTo(y, "more-unused-routes")],
            world.listener({ name: "unused", port: await freePort(), routes: "unused-routes" }),
            world.listener({ name: "more-unused", port: await freePort(), routes: "more-unused-routes" }),
          ],
        });
        await envoyHas(world, { ...USED, clusters: ["fixed", ...names], ...WITH_UNUSED });
        site.write({ "unused.json": undefined });
        await envoyHas(world, { ...USED, clusters: ["fixed"] });
      }
      expect((await envoy.stats())("listener_manager.total_listeners_active")).toBe(1);
      await settle(world, "deleted unused", rounds);
    });

    test("loses no request when the server is killed and comes back to other files", async () => {
      const { site, load, blue, server } = world;
      await server.kill();
      site.write({ "extra.json": swapTo(mode, "extra", blue.port)["swap.json"] });
      await server.start();
      await until({ says: "Envoy has the other cluster", withinMs: 30_000 }, async () =>
        (await clusterNames(world.envoy)).includes("extra"),
      );
      site.write({ "routes.json": [routeTo("extra")] });
      // Each stream reconnects after its own back-off.
      await load.answeredBy(blue.name, 30_000);
      site.write({ "swap.json": undefined });
      // With a stream per type, clients have half a minute to subscribe before anything is removed.
      await onlyCluster(world, "extra", 60_000);
      await settle(world, "restart", 1);
    });

    test("loses no request when a cluster was swapped for another while the server was down", async () => {
      const { site, load, green, server } = world;
      await server.kill();
      site.write({ "extra.json": undefined, ...swapTo(mode, "meanwhile", green.port) });
      await server.start();
      await load.answeredBy(green.name, 60_000);
      await onlyCluster(world, "meanwhile", 60_000);
      await settle(world, "swap while down", 1);
    });

    test("goes on with a static cluster that becomes one with EDS, while the server is killed and endpoints come later", async () => {
      const { site, load, blue, green, server, envoy } = world;
      site.write({ "swap.json": [staticCluster("changed", [blue.port])], "routes.json": [routeTo("changed")] });
      await load.answeredBy(blue.name, 60_000);
      // Longer than any back-off: an Envoy that waits no longer has no endpoints.
      const source = { ...configSource(mode), initial_fetch_timeout: "120s" };
      site.write({ "swap.json": [cluster({ name: "changed", source })] });
      const warms = async (): Promise<boolean> => (await envoy.stats())("cluster_manager.warming_clusters") === 1;
      const isKeptBack = async (): Promise<boolean> => {
        const rows = await deliveries(server);
        return rows.some(({ shortName, waits }) => shortName === "cds" && waits?.for === "endpoints");
      };
      // It is sent at once to an Envoy that came back a moment ago.
      await until({ says: "the cluster waits", withinMs: 5_000 }, async () => (await isKeptBack()) || (await warms()));
      await server.kill();
      await server.start();
      await until({ says: "Envoy is back", withinMs: 60_000 }, () => isConnected(envoy));
      await watchFor(2_000);
      site.write({ "swap.json": [cluster({ name: "changed", source }), endpoints("changed", [green.port])] });
      await load.answeredBy(green.name, 30_000);
      await settle(world, "STATIC to EDS while down", 1);
    });
  });

  test.each(named(modes))("loses requests where everything is said at once (%s)", async (_name, mode) => {
    await using stack = createStack();
    const world = await startLoadedEnvoy(stack, mode, ["--no-make-before-break"]);
    const rounds = times(20, 50);
    for (let round = 0; round < rounds; round++) {
      const backend = round % 2 === 0 ? world.green : world.blue;
      world.site.write(swapTo(mode, `swap-${round}`, backend.port));
      await world.load.answeredBy(backend.name, 5_000);
    }
    const { wronglyAnswered, lostToConfiguration } = noteLosses(
      "2.2 without the order",
      world,
      rounds,
      await world.losses(),
    );
    const flags = Object.keys(lostToConfiguration).map((text) => text.split(" ")[1]);
    expect(flags).toContain("NC");
    expect(Object.keys(wronglyAnswered)).not.toEqual([]);
  });
});

/** The listener and route table that serve requests. */
const USED = { listeners: ["http"], routes: ["routes"] };
const WITH_UNUSED = {
  listeners: ["http", "more-unused", "unused"],
  routes: ["more-unused-routes", "routes", "unused-routes"],
};

interface Held {
  readonly clusters: readonly string[];
  readonly listeners: readonly string[];
  readonly routes: readonly string[];
}

/** Waits until Envoy has exactly these. A removed listener stays for its drain time. */
async function envoyHas({ envoy }: LoadedEnvoy, held: Held): Promise<void> {
  await until({ says: `Envoy has ${JSON.stringify(held)}`, withinMs: 8_000, everyMs: 20 }, async () => {
    const now: Held = {
      clusters: await clusterNames(envoy),
      listeners: (await envoy.dumped("dynamic_listeners")).map(({ name }) => String(name)).sort(),
      routes: await dumpedNames(envoy, "dynamic_route_configs", "route_config"),
    };
    return isDeepStrictEqual(now, held);
  });
}

/** An invalid regular expression that only RE2 detects. */
const BAD_ROUTE = { match: { safe_regex: { regex: "a{1001}" } }, route: { cluster: "fixed" } };

/** Requests were served since the last call, none was lost, and the long response continues. */
async function settle(world: LoadedEnvoy, what: string, rounds: number): Promise<void> {
  const losses = await world.losses();
  expect(await world.long.goesOn(2_000)).toBeGreaterThan(0);
  expect(losses.total).toBeGreaterThan(0);
  expect(noteLosses(`no loss: ${what}`, world, rounds, losses)).toEqual(NO_LOSS);
}
