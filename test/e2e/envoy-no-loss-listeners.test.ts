import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { discoveredFilter, headerFilter } from "./support/discovered-filter.ts";
import { httpAsk, startHttpLoad } from "./support/http-load.ts";
import {
  clusterOf,
  dumpedNames,
  type LoadedEnvoy,
  type Losses,
  NO_LOSS,
  noteLosses,
  routeTo,
  startLoadedEnvoy,
} from "./support/loaded-envoy.ts";
import { openLongResponse } from "./support/long-response.ts";
import { times } from "./support/measure.ts";
import { configSource, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { endpoints, listener, routes } from "./support/resource.ts";
import { scopedRoutes, scopeOf } from "./support/scopes.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

/** An Envoy under steady load while listeners change, including the one that serves the load. */
describeWith("envoy", "Envoy", () => {
  describe.each(named(modes))("%s", (_name, mode) => {
    const stack = createStack();
    let world: LoadedEnvoy;

    beforeAll(async () => {
      world = await startLoadedEnvoy(stack, mode);
    });
    afterAll(() => stack[Symbol.asyncDispose]());

    test("drains nothing while routes and other listeners change", async () => {
      const { site, envoy } = world;
      const before = await activeSince(envoy, "http");
      const port = await freePort();
      const rounds = times(4, 20);
      for (let round = 0; round < rounds; round++) {
        const header = { header: { key: "x-round", value: String(round) } };
        site.write({
          "routes.json": [{ ...routeTo("first"), response_headers_to_add: [header] }],
          "other.json": [world.listener({ name: "other", port, statPrefix: `other-${round}` })],
        });
        await until({ says: "both are in force", withinMs: 3_000 }, async () => {
          const { headers } = await httpAsk({ port });
          return headers["x-round"] === String(round) && (await prefixOf(envoy, "other")) === `other-${round}`;
        });
      }
      site.write({ "other.json": undefined });
      await until({ says: "the other listener is gone", withinMs: 5_000 }, async () => {
        return (await envoy.stats())("listener_manager.total_listeners_active") === 1;
      });
      expect(await activeSince(envoy, "http")).toBe(before);
      await settle(world, "other listeners", rounds);
    });

    test("drains no connection of a filter chain that stays while others come, change and go", async () => {
      const { site, envoy, port } = world;
      const stat = async (): Promise<number> => (await envoy.stats())("listener_manager.listener_in_place_updated");
      const before = await stat();
      const rounds = times(4, 20);
      for (let round = 0; round < rounds; round++) {
        site.write({ "listeners.json": [withSecondChain(world, `second-${round}`)] });
        await until({ says: "the second filter chain answers", withinMs: 3_000 }, async () => {
          return (await httpAsk({ port, localAddress: "127.0.0.2" })).body === `second-${round}`;
        });
      }
      site.write({ "listeners.json": [world.listener({ name: "http", port })] });
      await until({ says: "the second filter chain is gone", withinMs: 3_000 }, async () => {
        return (await httpAsk({ port, localAddress: "127.0.0.2" })).body === world.blue.name;
      });
      // Envoy drains the old connections; no request can be lost after that.
      await until({ says: "its connections are drained", withinMs: 5_000 }, async () => {
        return (await envoy.stats())("listener_manager.total_filter_chains_draining") === 0;
      });
      expect((await stat()) - before).toBe(rounds + 1);
      await settle(world, "filter chains", rounds + 1);
    });

    test("closes connections, but loses no request to configuration, when the listener itself changes", async () => {
      const { site, envoy, port } = world;
      await using long = await openLongResponse(port);
      const before = (await envoy.stats())("listener_manager.listener_modified");
      const rounds = times(2, 10);
      for (let round = 0; round < rounds; round++) {
        const more = { per_connection_buffer_limit_bytes: 100_000 + round };
        site.write({ "listeners.json": [world.listener({ name: "http", port, more })] });
        await until({ says: "the old one is drained", withinMs: 8_000, everyMs: 20 }, async () => {
          const stats = await envoy.stats();
          const isModified = stats("listener_manager.listener_modified") === before + round + 1;
          return isModified && stats("listener_manager.total_listeners_draining") === 0;
        });
      }
      // Responses longer than the drain time (--drain-time-s) are cut.
      await until({ says: "the long response is cut", withinMs: 3_000 }, () => long.broken() !== undefined);
      const losses = noteLosses("no loss: listener changed", world, rounds, await world.losses());
      expect(losses).toEqual(expect.objectContaining({ wronglyAnswered: {}, lostToConfiguration: {} }));
    });

    test("gets a new name with a cluster whose endpoints come later: its address is never without a listener", async () => {
      const { site, envoy } = world;
      const port = await freePort();
      const named = (round: number): readonly object[] => {
        const cluster = `renamed-${round}`;
        const { virtual_hosts } = routeTo(cluster, "inline") as { readonly virtual_hosts: readonly object[] };
        const manager = { route_config: { name: "inline", virtual_hosts } };
        return [world.listener({ name: cluster, port, manager, statPrefix: cluster }), clusterOf(mode, cluster)];
      };
      const endpointsOf = (round: number): object => endpoints(`renamed-${round}`, [world.green.port]);
      site.write({ "renamed.json": [...named(0), endpointsOf(0)] });
      await using loadThere = startHttpLoad({ port, keptPerSecond: 0, newPerSecond: 200 });
      await loadThere.answeredBy(world.green.name, 5_000);
      await world.losses(loadThere, port);
      const rounds = times(2, 10);
      for (let round = 1; round <= rounds; round++) {
        site.write({ "renamed.json": [...named(round), endpointsOf(round - 1)] });
        await until({ says: "the new cluster is there", withinMs: 5_000, everyMs: 20 }, async () => {
          const names = ["warming", "active"].map((state) =>
            dumpedNames(envoy, `dynamic_${state}_clusters`, "cluster"),
          );
          return (await Promise.all(names)).flat().includes(`renamed-${round}`);
        });
        expect((await httpAsk({ port })).body).toBe(world.green.name);
        site.write({ "renamed.json": [...named(round), endpointsOf(round)] });
        await until({ says: "the renamed listener is in use", withinMs: 5_000, everyMs: 20 }, async () => {
          return (await prefixOf(envoy, `renamed-${round}`)) === `renamed-${round}`;
        });
      }
      expectOnlyDrained("listener renamed", world, rounds, await world.losses(loadThere, port));
      await loadThere.stop();
      site.write({ "renamed.json": undefined });
      await until({ says: "the renamed listener is gone", withinMs: 8_000, everyMs: 20 }, async () => {
        const stats = await envoy.stats();
        return (
          ["active", "draining"].map((state) => stats(`listener_manager.total_listeners_${state}`)).join() === "1,0"
        );
      });
    });

    test("moves from its routes to scopes and back, each time with another cluster: new connections are answered", async () => {
      const { site, envoy } = world;
      const port = await freePort();
      const moved = (round: number): readonly object[] => {
        const name = `moved-${round}`;
        const isScoped = round % 2 === 1;
        const manager = isScoped ? scopedRoutes(mode, ":authority") : undefined;
        return [
          world.listener({ name: "moved", port, routes: name, statPrefix: name, ...(manager && { manager }) }),
          ...(isScoped ? [scopeOf(`127.0.0.1:${port}`, name)] : []),
          routes(name, [{ cluster: name }]),
          clusterOf(mode, name),
          endpoints(name, [world.green.port]),
        ];
      };
      site.write({ "moved.json": moved(0) });
      await using loadThere = startHttpLoad({ port, keptPerSecond: 0, newPerSecond: 200 });
      await loadThere.answeredBy(world.green.name, 5_000);
      await world.losses(loadThere, port);
      const rounds = times(4, 20);
      for (let round = 1; round <= rounds; round++) {
        site.write({ "moved.json": moved(round) });
        await until({ says: "the listener is in use, and the former cluster gone", withinMs: 8_000 }, async () => {
          const clusters = await dumpedNames(envoy, "dynamic_active_clusters", "cluster");
          const isGone = !clusters.includes(`moved-${round - 1}`) && clusters.includes(`moved-${round}`);
          return isGone && (await prefixOf(envoy, "moved")) === `moved-${round}`;
        });
      }
      expectOnlyDrained("to scopes and back", world, rounds, await world.losses(loadThere, port));
      await loadThere.stop();
      site.write({ "moved.json": undefined });
      await until({ says: "the moved listener is gone", withinMs: 8_000, everyMs: 20 }, async () => {
        const stats = await envoy.stats();
        return (
          ["active", "draining"].map((state) => stats(`listener_manager.total_listeners_${state}`)).join() === "1,0"
        );
      });
    });

    test("exchanges the configuration of a filter for another: the former serves what drains, and is given up", async () => {
      const { site, envoy } = world;
      const port = await freePort();
      const exchanged = (round: number): readonly object[] => {
        const name = `filter-${round}`;
        const filters = [discoveredFilter(name, mode)];
        return [
          world.listener({ name: "exchanged", port, routes: "exchanged", statPrefix: name, filters }),
          headerFilter(name, name),
          routes("exchanged", [{ cluster: "exchanged" }]),
          clusterOf(mode, "exchanged"),
          endpoints("exchanged", [world.green.port]),
        ];
      };
      site.write({ "exchanged.json": exchanged(0) });
      await using loadThere = startHttpLoad({ port, keptPerSecond: 200, newPerSecond: 50 });
      await loadThere.answeredBy(world.green.name, 5_000);
      await world.losses(loadThere, port);
      const rounds = times(4, 20);
      for (let round = 1; round <= rounds; round++) {
        site.write({ "exchanged.json": exchanged(round) });
        await until({ says: "the new filter is in use, and the former given up", withinMs: 8_000 }, async () => {
          const filters = await dumpedNames(envoy, "ecds_filters", "ecds_filter");
          return filters.join() === `filter-${round}`;
        });
      }
      const losses = noteLosses("no loss: filter exchanged", world, rounds, await world.losses(loadThere, port));
      expect(losses).toEqual(expect.objectContaining({ wronglyAnswered: {}, lostToConfiguration: {} }));
      await loadThere.stop();
      site.write({ "exchanged.json": undefined });
      await until({ says: "the listener is gone", withinMs: 8_000, everyMs: 20 }, async () => {
        const stats = await envoy.stats();
        return (
          ["active", "draining"].map((state) => stats(`listener_manager.total_listeners_${state}`)).join() === "1,0"
        );
      });
    });

    test("moves to another address in two steps: every request there is answered from the first connection on", async () => {
      const { site, envoy, port, load } = world;
      const next = await freePort();
      await using loadThere = startHttpLoad({ port: next, keptPerSecond: 100, newPerSecond: 50 });
      // One edit with a listener, its routes, a cluster and its endpoints.
      site.write({
        "next.json": [
          world.listener({ name: "http-next", port: next, routes: "routes-next" }),
          ...[routeTo("next", "routes-next"), clusterOf(mode, "next"), endpoints("next", [world.green.port])],
        ],
      });
      await loadThere.answeredBy(world.green.name, 5_000);
      await using long = await openLongResponse(next);
      const there = await world.losses(loadThere, next);
      expect(there).toEqual(expect.objectContaining({ wronglyAnswered: {}, lostToConfiguration: {}, otherErrors: {} }));
      expect(Object.keys(there.connectErrors).filter((code) => code !== "ECONNREFUSED")).toEqual([]);
      // All clients use the new address now.
      expect(noteLosses("no loss: moved, before", world, 1, await world.losses())).toEqual(NO_LOSS);
      await load.stop();
      site.write({ "listeners.json": undefined });
      await until({ says: "the old listener is gone", withinMs: 8_000, everyMs: 20 }, async () => {
        const stats = await envoy.stats();
        const listeners = ["active", "draining"].map((state) => stats(`listener_manager.total_listeners_${state}`));
        return listeners.join() === "1,0" && (await httpAsk({ port })).text === "ECONNREFUSED";
      });
      const after = noteLosses("no loss: moved, after", world, 1, await world.losses(loadThere, next));
      expect(after).toEqual(NO_LOSS);
      expect(await long.goesOn(2_000)).toBeGreaterThan(0);
    });

    test("moves to another address in one step: the old one refuses connections, the new one loses no request", async () => {
      const { site } = world;
      const [from, to] = [await freePort(), await freePort()];
      const at = (port: number): object => world.listener({ name: "moving", port, routes: "routes-next" });
      site.write({ "moving.json": [at(from)] });
      await using loadHere = startHttpLoad({ port: from, keptPerSecond: 0, newPerSecond: 50 });
      await using loadThere = startHttpLoad({ port: to, keptPerSecond: 0, newPerSecond: 50 });
      await loadHere.answeredBy(world.green.name, 5_000);
      await world.losses(loadHere, from);
      site.write({ "moving.json": [at(to)] });
      await loadThere.answeredBy(world.green.name, 5_000);
      await until({ says: "the old address refuses connections", withinMs: 3_000 }, async () => {
        return (await httpAsk({ port: from })).text === "ECONNREFUSED";
      });
      const there = await world.losses(loadThere, to);
      expect(there).toEqual(expect.objectContaining({ wronglyAnswered: {}, lostToConfiguration: {}, otherErrors: {} }));
      const here = noteLosses("no loss: moved in one step, before", world, 1, await world.losses(loadHere, to));
      expect(here).toEqual(expect.objectContaining({ wronglyAnswered: {}, lostToConfiguration: {} }));
    });
  });
});

/** When Envoy activated a listener; it changes when the listener is replaced. */
async function activeSince(envoy: LoadedEnvoy["envoy"], name: string): Promise<string> {
  const found = (await envoy.dumped("dynamic_listeners")).find((each) => each["name"] === name);
  const active = found?.["active_state"] as { readonly last_updated?: string } | undefined;
  if (active?.last_updated === undefined) throw new Error(`no listener ${name} is in use`);
  return active.last_updated;
}

/** The statistics prefix of an active listener. */
async function prefixOf(envoy: LoadedEnvoy["envoy"], name: string): Promise<string | undefined> {
  const found = (await envoy.dumped("dynamic_listeners")).find((each) => each["name"] === name);
  return /"stat_prefix":"([^"]*)"/.exec(JSON.stringify(found?.["active_state"]))?.[1];
}

/** The listener `http` with a second filter chain, for connections from 127.0.0.2, that responds directly. */
function withSecondChain({ port, mode, listener: logged }: LoadedEnvoy, body: string): object {
  interface Chains {
    readonly filter_chains: readonly object[];
  }
  const { virtual_hosts } = routes("inline", []) as { readonly virtual_hosts: readonly object[] };
  const answer = { match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: body } } };
  const route_config = { name: "inline", virtual_hosts: [{ ...virtual_hosts[0], routes: [answer] }] };
  const settings = { name: "http", port, routes: "", source: configSource(mode), manager: { route_config } };
  const second = (listener(settings) as Chains).filter_chains[0];
  const first = logged({ name: "http", port }) as Chains;
  const match = { source_prefix_ranges: [{ address_prefix: "127.0.0.2", prefix_len: 32 }] };
  return { ...first, filter_chains: [...first.filter_chains, { ...second, filter_chain_match: match }] };
}

/**
 * New connections were accepted, and nearly all requests were served. Some come on connections that the former listener
 * accepted a moment before, and find its cluster or scope deleted: more on a busy machine.
 */
function expectOnlyDrained(what: string, world: LoadedEnvoy, rounds: number, { total, ...rest }: Losses): void {
  const { wronglyAnswered, ...losses } = noteLosses(`drained: ${what}`, world, rounds, { total, ...rest });
  const lost = Object.values(wronglyAnswered).reduce((sum, count) => sum + count, 0);
  expect([losses.connectErrors, losses.otherErrors, lost < total / 5]).toEqual([{}, {}, true]);
}

/** Requests were served since the last call, none was lost, and the long response continues. */
async function settle(world: LoadedEnvoy, what: string, rounds: number): Promise<void> {
  const losses = await world.losses();
  expect(await world.long.goesOn(2_000)).toBeGreaterThan(0);
  expect(losses.total).toBeGreaterThan(0);
  expect(noteLosses(`no loss: ${what}`, world, rounds, losses)).toEqual(NO_LOSS);
}
