import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliveries } from "./support/admin.ts";
import { type Envoy, startEnvoy } from "./support/envoy.ts";
import { type Backend, startHttpBackend } from "./support/http-backend.ts";
import { type HttpLoad, startHttpLoad } from "./support/http-load.ts";
import { note, times } from "./support/measure.ts";
import { configSource, type Mode, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

/** An Envoy under steady load while everything that its requests go through is replaced. */
describeWith("envoy", "Envoy", () => {
  describe.each(named(modes))("%s", (_name, mode) => {
    const stack = createStack();
    let world: World;

    beforeAll(async () => {
      world = await startWorld(stack, mode);
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
      const rounds = times(4, 50);
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

    test("keeps the cluster that a refused route was to replace, and removes it after the next one", async () => {
      const { site, load, blue, server } = world;
      const refused = [{ ...routeTo("fixed"), virtual_hosts: [{ name: "all", domains: ["*"], routes: [BAD_ROUTE] }] }];
      site.write({ ...swapTo(mode, "fixed", blue.port), "routes.json": refused });
      await until({ says: "Envoy refuses the route", withinMs: 3_000 }, async () =>
        (await deliveries(server)).some(({ shortName, state }) => shortName === "rds" && state === "nacked"),
      );
      await watchFor(500);
      expect(await clusterNames(world.envoy)).toEqual(["fixed", "late"]);
      const row = (await deliveries(server)).find(({ heldOver }) => heldOver !== undefined);
      expect(row).toMatchObject({ heldOver: ["late"], waits: { for: "users", shortName: "rds", refused: true } });
      site.write({ "routes.json": [routeTo("fixed")] });
      await load.answeredBy(blue.name, 3_000);
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

    test("loses no request when the server is killed and comes back to other files", async () => {
      const { site, load, green, server } = world;
      await server.kill();
      site.write({ "extra.json": swapTo(mode, "extra", green.port)["swap.json"] });
      await server.start();
      await until({ says: "Envoy has the other cluster", withinMs: 30_000 }, async () =>
        (await clusterNames(world.envoy)).includes("extra"),
      );
      site.write({ "routes.json": [routeTo("extra")] });
      // Each of its streams comes back after a pause of its own.
      await load.answeredBy(green.name, 30_000);
      site.write({ "swap.json": undefined });
      await onlyCluster(world, "extra");
      await settle(world, "restart", 1);
    });
  });

  test.each(named(modes))("loses requests where everything is said at once (%s)", async (_name, mode) => {
    await using stack = createStack();
    const world = await startWorld(stack, mode, ["--no-make-before-break"]);
    for (let round = 0; round < 20; round++) {
      const backend = round % 2 === 0 ? world.green : world.blue;
      world.site.write(swapTo(mode, `swap-${round}`, backend.port));
      await world.load.answeredBy(backend.name, 5_000);
    }
    const { total, failed } = await world.load.stop();
    note("2.2 without the order", mode.name, "20 swaps: requests, failed", `${total}, ${JSON.stringify(failed)}`);
    expect(Object.values(failed).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });
});

interface World {
  readonly mode: Mode;
  readonly blue: Backend;
  readonly green: Backend;
  readonly site: Site;
  readonly server: XdsServer;
  readonly envoy: Envoy;
  readonly load: HttpLoad;
}

async function startWorld(stack: Stack, mode: Mode, flags: readonly string[] = []): Promise<World> {
  const blue = stack.use(await startHttpBackend("blue"));
  const green = stack.use(await startHttpBackend("green"));
  const port = await freePort();
  const source = configSource(mode);
  const site = stack.use(
    createSite({
      ...swapTo(mode, "first", blue.port),
      "listeners.json": [listener({ name: "http", port, routes: "routes", source })],
    }),
  );
  const server = stack.use(await startXdsServer({ site, flags }));
  const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port }));
  await envoy.ready(5_000);
  const load = stack.use(startHttpLoad({ port, keptPerSecond: 200, newPerSecond: 100 }));
  await load.answeredBy(blue.name, 5_000);
  load.take();
  return { mode, blue, green, site, server, envoy, load };
}

/** The files in which one cluster takes the place of another, and the route goes to it. */
function swapTo(mode: Mode, name: string, port: number): Record<string, readonly object[]> {
  return {
    "swap.json": [clusterOf(mode, name), endpoints(name, [port])],
    "routes.json": [routeTo(name)],
  };
}

function clusterOf(mode: Mode, name: string): object {
  return cluster({ name, source: configSource(mode) });
}

function routeTo(name: string): object {
  return routes("routes", [{ cluster: name }]);
}

/** A regular expression that only RE2 can see is wrong. */
const BAD_ROUTE = { match: { safe_regex: { regex: "(" } }, route: { cluster: "fixed" } };

async function clusterNames(envoy: Envoy): Promise<readonly string[]> {
  const dumped = await envoy.dumped("dynamic_active_clusters");
  return dumped.map((each) => String((each["cluster"] as { name?: unknown } | undefined)?.name)).sort();
}

async function onlyCluster({ envoy }: World, name: string): Promise<void> {
  await until({ says: `${name} is the only cluster`, withinMs: 5_000 }, async () => {
    return (await clusterNames(envoy)).join() === name;
  });
}

/** Requests went through since the last time, and none was lost. */
async function settle({ load, mode }: World, what: string, rounds: number): Promise<void> {
  const { total, failed, slowestMs } = load.take();
  note(
    `no loss: ${what}`,
    mode.name,
    `${rounds}: requests, failed, slowest ms`,
    `${total}, ${JSON.stringify(failed)}, ${slowestMs}`,
  );
  expect({ failed, isLoaded: total > 0 }).toEqual({ failed: {}, isLoaded: true });
}
