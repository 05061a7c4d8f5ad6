import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { deliveries } from "./support/admin.ts";
import { createCertificate } from "./support/certificate.ts";
import { SLOW_PATH } from "./support/http-backend.ts";
import { clusterNames, NO_LOSS, noteLosses, onlyCluster, startLoadedEnvoy, swapTo } from "./support/loaded-envoy.ts";
import { adsModes, configSource, type Mode, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

/** In delta, Envoy does not wait for a secret once it is reported missing. */
const sotwModes = adsModes.filter(({ name }) => name.includes("sotw"));

/** How long Envoy waits for endpoints that it asked for. */
const FETCH_MS = 500;

/**
 * On an aggregated stream, Envoy does not ACK clusters while one of them is warming, nor subscribe to them on a new
 * stream (client-behaviours A16).
 */
describeWith("envoy", "Envoy", () => {
  test.each(named(sotwModes))(
    "a cluster whose secret is missing holds up nothing but itself, and the operator is told (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const world = await startLoadedEnvoy(stack, mode);
      const { site, server, envoy, load, green } = world;
      const source = configSource(mode);
      site.write({
        "stuck.json": [stuckCluster(mode), endpoints("stuck", [green.port])],
        "other.json": [
          listener({ name: "other", port: await freePort(), routes: "other", source }),
          routes("other", [{ cluster: "stuck" }]),
        ],
      });
      const rows = async (shortName: string): Promise<unknown> => {
        const row = (await deliveries(server)).find((one) => one.shortName === shortName);
        return row && { waits: row.waits, doesNotExist: row.doesNotExist };
      };
      await until({ says: "the routes to it wait", withinMs: 5_000 }, async () => {
        return JSON.stringify(await rows("rds")).includes('"stuck"');
      });
      for (const [name, backend] of [["beside", green] as const, ["and-back", world.blue] as const]) {
        site.write(swapTo(mode, name, backend.port));
        await load.answeredBy(backend.name, 5_000);
      }
      expect(await rows("rds")).toMatchObject({ waits: { for: "cluster", name: "stuck", resources: ["other"] } });
      expect(await rows("sds")).toMatchObject({ doesNotExist: ["absent"] });
      site.write({ "secret.json": [trustedAuthority()] });
      await until({ says: "the cluster is in use", withinMs: 5_000 }, async () => {
        return (await clusterNames(envoy)).join() === "and-back,stuck" && (await rows("rds")) !== undefined;
      });
      await until({ says: "nothing waits", withinMs: 5_000 }, async () => {
        return (await deliveries(server)).every(({ waits }) => waits === undefined);
      });
      expect(noteLosses("no loss: beside one that never warms", world, 2, await world.losses())).toEqual(NO_LOSS);
    },
  );

  test.each(named(adsModes))(
    "routes wait until the hosts of a new cluster had their first health check, however long that takes (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const world = await startLoadedEnvoy(stack, mode);
      const { site, envoy, load, green } = world;
      const slow = { timeout: "9s", interval: "9s", unhealthy_threshold: 1, healthy_threshold: 1 };
      const more = { health_checks: [{ ...slow, http_health_check: { path: SLOW_PATH } }] };
      site.write({
        ...swapTo(mode, "checked", green.port),
        "swap.json": [
          cluster({ name: "checked", source: configSource(mode), more }),
          endpoints("checked", [green.port]),
        ],
      });
      await load.answeredBy(green.name, 9_000);
      await until({ says: "the former cluster is gone", withinMs: 5_000 }, async () => {
        return (await clusterNames(envoy)).join() === "checked";
      });
      expect(noteLosses("no loss: to slow health checks", world, 1, await world.losses())).toEqual(NO_LOSS);
    },
  );

  test.each(named(modes))(
    "S-ORD-06 a cluster in use waits for endpoints of another name longer than Envoy would (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const world = await startLoadedEnvoy(stack, mode);
      const { site, server, load, green } = world;
      const source = { ...configSource(mode), initial_fetch_timeout: `${FETCH_MS / 1_000}s` };
      site.write({ "swap.json": [cluster({ name: "first", source, serviceName: "moved" })] });
      await until({ says: "the cluster waits", withinMs: 5_000 }, async () => {
        const rows = await deliveries(server);
        return rows.some(({ shortName, waits }) => shortName === "cds" && waits?.for === "endpoints");
      });
      await pause(4 * FETCH_MS);
      site.write({ "moved.json": [endpoints("moved", [green.port])] });
      await load.answeredBy(green.name, 5_000);
      expect(noteLosses("no loss: endpoints of another name, late", world, 1, await world.losses())).toEqual(NO_LOSS);
    },
  );

  test.each(named(sotwModes))(
    "S-ORD-06 a server with other files has its routes wait until Envoy stops warming, and asks for clusters (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const world = await startLoadedEnvoy(stack, mode);
      const { site, server, envoy, load, green } = world;
      site.write({ "stuck.json": [stuckCluster(mode), endpoints("stuck", [green.port])] });
      await until({ says: "the cluster warms", withinMs: 5_000 }, async () => {
        return (await envoy.stats())("cluster_manager.warming_clusters") === 1;
      });
      await server.kill();
      site.write({ "stuck.json": undefined, ...swapTo(mode, "meanwhile", green.port) });
      await server.start();
      await until({ says: "the routes wait", withinMs: 10_000 }, async () => {
        const rows = await deliveries(server);
        return rows.some(({ shortName, waits }) => shortName === "rds" && waits?.for === "cluster");
      });
      await load.answeredBy(green.name, 30_000);
      await onlyCluster(world, "meanwhile", 10_000);
      expect(noteLosses("no loss: restart while one warms", world, 1, await world.losses())).toEqual(NO_LOSS);
    },
  );
});

function stuckCluster(mode: Mode): object {
  const source = configSource(mode);
  return cluster({
    name: "stuck",
    source,
    more: {
      transport_socket: {
        name: "envoy.transport_sockets.tls",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
          common_tls_context: { validation_context_sds_secret_config: { name: "absent", sds_config: source } },
        },
      },
    },
  });
}

function trustedAuthority(): object {
  return {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
    name: "absent",
    validation_context: { trusted_ca: { inline_string: createCertificate("authority").cert } },
  };
}
