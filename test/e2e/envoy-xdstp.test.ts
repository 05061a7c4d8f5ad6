import { describe, expect, test } from "vitest";
import { fates } from "./support/admin.ts";
import { startEnvoy, timersFired } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { startHttpLoad } from "./support/http-load.ts";
import { adsModes, apiConfigSource, configSource, type Mode, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite, type FileContent } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const NODE = "edge-1";
const CLUSTERS = "xdstp://mesh/envoy.config.cluster.v3.Cluster/shop";
const LISTENERS = "xdstp://mesh/envoy.config.listener.v3.Listener/shop";

/** A member of a collection for this node; its name has the parameters that Envoy adds to the collection's. */
const member = (collection: string, name: string): string => `${collection}/${name}?xds.node.id=${NODE}`;

/** Subscribes to two collections instead of all listeners and clusters. */
function collections(mode: Mode): object {
  const source = configSource(mode);
  return {
    node_context_params: ["id"],
    dynamic_resources: {
      ads_config: apiConfigSource(mode),
      cds_config: source,
      lds_config: source,
      cds_resources_locator: `${CLUSTERS}/*`,
      lds_resources_locator: `${LISTENERS}/*`,
    },
  };
}

describeWith("envoy", "an Envoy that asks for collections by xdstp names", () => {
  describe.each(named(adsModes))("%s", (_name, mode) => {
    test("gets the members of its own, follows every change of them, and loses no request", async () => {
      await using stack = createStack();
      const [blue, green] = [stack.use(await startHttpBackend("blue")), stack.use(await startHttpBackend("green"))];
      const port = await freePort();
      const source = configSource(mode);
      const shop = (name: string, backend: number): FileContent => [
        cluster({ name: member(CLUSTERS, name), serviceName: name, source }),
        endpoints(name, [backend]),
        listener({ name: member(LISTENERS, "http"), statPrefix: "http", port, routes: "table", source }),
        routes("table", [{ cluster: member(CLUSTERS, name) }]),
      ];
      const others = [
        cluster({ name: "plain", source }),
        cluster({ name: `${CLUSTERS}/web?xds.node.id=another`, serviceName: "another", source }),
      ];
      const site = stack.use(createSite({ "shop.json": shop("web", blue.port), "others.json": others }));
      const server = stack.use(await startXdsServer({ site }));
      const bootstrap = collections(mode);
      const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port, node: { id: NODE }, bootstrap }));
      await envoy.ready(5_000);
      const load = stack.use(startHttpLoad({ port }));
      await load.answeredBy("blue", 3_000);

      site.write({ "shop.json": shop("next", green.port) });
      await load.answeredBy("green", 5_000);
      const clusters = async (): Promise<number> => (await envoy.stats())("cluster_manager.active_clusters");
      // The bootstrap's cluster, and the only current member.
      await until({ says: "the old member is gone", withinMs: 5_000 }, async () => (await clusters()) === 2);
      const { cds, lds } = await fates(server, NODE);
      expect({ cds, lds, failed: (await load.stop()).failed, timers: await timersFired(envoy) }).toEqual({
        cds: "acked",
        lds: "acked",
        failed: {},
        timers: {},
      });
    });
  });
});
