import { expect, test } from "vitest";
import { startEnvoy, timersFired } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { configSource, type Mode, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { listener, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { slowdown, until } from "./support/wait.ts";

/** How long Envoy waits before it tries a stream again, up to 30 s by itself, is not what is measured here. */
const soonBack = modes.map((mode): Mode => ({ ...mode, longestBackOff: "1s" }));

/** The Listener and Clusters are static, and the server has Clusters with the same names for other clients. */
describeWith("envoy", "an Envoy that asks for routes and never for clusters", () => {
  test.each(named(soonBack))(
    "S-ORD-06 is told of them when it starts and when it comes back (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const [blue, green] = [
        stack.use(await startHttpBackend("blue")),
        stack.use(await startHttpBackend("green")),
      ] as const;
      const clusters = [staticCluster("blue", [blue.port]), staticCluster("green", [green.port])];
      const routesTo = (name: string): readonly object[] => [routes("routes", [{ cluster: name }])];
      const site = stack.use(createSite({ "clusters.json": clusters, "routes.json": routesTo("blue") }));
      const server = stack.use(await startXdsServer({ site }));
      const port = await freePort();
      const own = listener({ name: "http", port, routes: "routes", source: configSource(mode) });
      const envoy = stack.use(
        await startEnvoy({
          mode,
          xdsPort: server.port,
          staticListeners: [untyped(own)],
          staticClusters: clusters.map(untyped),
        }),
      );
      const follows = async (name: string, withinMs: number): Promise<void> => {
        const { ms } = await until(
          { says: `${name} answers`, withinMs },
          async () => (await httpGet({ port })).body === name,
        );
        note("routes without clusters", mode.name, `${name}, ms`, ms);
      };
      note("routes without clusters", mode.name, "ready, ms", await envoy.ready(20_000));
      expect(await httpGet({ port })).toEqual({ status: 200, body: "blue" });
      expect(await timersFired(envoy)).toEqual({});
      site.write({ "routes.json": routesTo("green") });
      await follows("green", 5_000);
      await server.kill();
      site.write({ "routes.json": routesTo("blue") });
      await server.start();
      await follows("blue", RETURN_MS);
    },
  );

  test.each(named(soonBack.filter(({ apiType }) => apiType === "DELTA_GRPC")))(
    "S-ORD-06 is sent virtual hosts at once, those that all requests need and those on demand (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const web = stack.use(await startHttpBackend("web"));
      const clusters = [staticCluster("web", [web.port])];
      const hosts = { vhds: { config_source: configSource(mode) }, virtual_hosts: [] };
      const site = stack.use(
        createSite({
          "clusters.json": clusters,
          "routes.json": [{ ...routes("routes", []), ...hosts }, virtualHost("base.example")],
          "on-demand/hosts.json": [virtualHost("late.example")],
        }),
      );
      const server = stack.use(await startXdsServer({ site }));
      const port = await freePort();
      const onDemand = { name: "envoy.filters.http.on_demand", typed_config: { "@type": ON_DEMAND } };
      const own = listener({ name: "http", port, routes: "routes", source: configSource(mode), filters: [onDemand] });
      const envoy = stack.use(
        await startEnvoy({
          mode,
          xdsPort: server.port,
          staticListeners: [untyped(own)],
          staticClusters: clusters.map(untyped),
        }),
      );
      const ask = async (host: string): Promise<number> => (await httpGet({ port, headers: { host } })).status;
      note("virtual hosts without clusters", mode.name, "ready, ms", await envoy.ready(READY_MS));
      const startedAt = performance.now();
      expect([await ask("base.example"), await ask("late.example"), await ask("none.example")]).toEqual([
        200, 200, 404,
      ]);
      const ms = performance.now() - startedAt;
      note("virtual hosts without clusters", mode.name, "three requests, ms", Math.round(ms));
      expect(ms).toBeLessThan(slowdown() * READY_MS);
      expect(await timersFired(envoy)).toEqual({});

      await server.kill();
      site.write({ "on-demand/more.json": [virtualHost("more.example")] });
      await server.start();
      const { ms: newMs } = await until(
        { says: "a host that is new answers", withinMs: RETURN_MS },
        async () => (await ask("more.example")) === 200,
      );
      note("virtual hosts without clusters", mode.name, "new host after a restart, ms", newMs);
      expect([await ask("base.example"), await ask("late.example")]).toEqual([200, 200]);
    },
  );
});

const ON_DEMAND = "type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand";
/** Far less than the server would wait for Clusters, 30 seconds. */
const READY_MS = 5_000;
/** The back-off of Envoy's streams; the server alone would wait for Clusters for 30 seconds. */
const RETURN_MS = 15_000;

function virtualHost(domain: string): object {
  return {
    "@type": "type.googleapis.com/envoy.config.route.v3.VirtualHost",
    name: `routes/${domain}`,
    domains: [domain],
    routes: [{ match: { prefix: "/" }, route: { cluster: "web" } }],
  };
}

function untyped(resource: object): object {
  const { "@type": _, ...fields } = resource as Readonly<Record<string, unknown>>;
  return fields;
}
