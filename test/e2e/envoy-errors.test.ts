import { describe, expect, test } from "vitest";
import { nacks } from "./support/admin.ts";
import { startEnvoy, timersFired } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { startHttpLoad } from "./support/http-load.ts";
import { adsDelta, adsModes, configSource, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

/** A response with a resource error. */
function failure(type: string, name: string, code: number): string {
  return JSON.stringify({
    type_url: `type.googleapis.com/${type}`,
    resource_errors: [{ resource_name: { name }, error_detail: { code, message: "no registry" } }],
  });
}

const CLUSTER = "envoy.config.cluster.v3.Cluster";
const ENDPOINTS = "envoy.config.endpoint.v3.ClusterLoadAssignment";

describeWith("envoy", "an error in place of a resource", () => {
  describe.each(named(adsModes))("%s", (_name, mode) => {
    test("takes nothing from an Envoy that it does not stand for", async () => {
      await using stack = createStack();
      const web = stack.use(await startHttpBackend("blue"));
      const port = await freePort();
      const source = configSource(mode);
      const site = stack.use(
        createSite({
          "web.json": [
            cluster({ name: "web", source }),
            listener({ name: "http", port, routes: "routes", source }),
            routes("routes", [{ cluster: "web" }]),
          ],
          "endpoints.json": [endpoints("web", [web.port])],
        }),
      );
      const server = stack.use(await startXdsServer({ site }));
      const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port }));
      await envoy.ready(3_000);
      const load = stack.use(startHttpLoad({ port }));
      await load.answeredBy("blue", 2_000);
      const before = await server.metric("xds_server_responses_total", { type: "cds" });
      site.write({ "failed.json": failure(CLUSTER, "other", 14) });
      await until(
        { says: "the error is sent", withinMs: 3_000 },
        async () => (await server.metric("xds_server_responses_total", { type: "cds" })) > before,
      );
      const stats = await envoy.stats();
      expect({
        clusters: stats("cluster_manager.active_clusters"),
        refused: await nacks(server),
        failed: (await load.stop()).failed,
        timers: await timersFired(envoy),
      }).toEqual({ clusters: 2, refused: 0, failed: {}, timers: {} });
    });
  });

  test("ends an Envoy's wait for endpoints in delta", async () => {
    await using stack = createStack();
    const site = stack.use(
      createSite({ "cluster.json": [cluster({ name: "web" })], "failed.json": failure(ENDPOINTS, "web", 14) }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port }));
    await envoy.ready(5_000);
    const stats = await envoy.stats();
    expect({ warming: stats("cluster_manager.warming_clusters"), timers: await timersFired(envoy) }).toEqual({
      warming: 0,
      timers: {},
    });
  });
});
