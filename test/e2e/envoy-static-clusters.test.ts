import { expect, test } from "vitest";
import { startEnvoy, timersFired } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { configSource, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { listener, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

/** The Listener and Clusters are static, and the server has Clusters with the same names for other clients. */
describeWith("envoy", "an Envoy that asks for routes and never for clusters", () => {
  test.each(named(modes))(
    "S-ORD-06 is told of them when it starts and when it comes back (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const [blue, green] = [
        stack.use(await startHttpBackend("blue")),
        stack.use(await startHttpBackend("green")),
      ] as const;
      const clusters = [staticCluster("blue", [blue.port]), staticCluster("green", [green.port])];
      const routesTo = (name: string): readonly object[] => [routes("routes", [{ cluster: name }])];
      // With a stream per type, the server waits for all of them to reconnect, by default for half a minute.
      const settings = "switches: { separateResumeGrace: 3s }\n";
      const site = stack.use(
        createSite({ "xdskit.yaml": settings, "clusters.json": clusters, "routes.json": routesTo("blue") }),
      );
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
      // Half of this is Envoy's back-off; waiting for Clusters would take longer than all of it.
      await follows("blue", 20_000);
    },
  );
});

function untyped(resource: object): object {
  const { "@type": _, ...fields } = resource as Readonly<Record<string, unknown>>;
  return fields;
}
