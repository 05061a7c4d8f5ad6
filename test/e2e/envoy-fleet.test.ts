import { expect, test } from "vitest";
import { connectedStreams, type Envoy, isConnected, startEnvoy, timersFired } from "./support/envoy.ts";
import { type Backend, startHttpBackend } from "./support/http-backend.ts";
import { type HttpLoad, httpGet, startHttpLoad } from "./support/http-load.ts";
import { note, times } from "./support/measure.ts";
import { adsDelta, adsModes, configSource, type Mode, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort, freePorts } from "./support/port.ts";
import { cluster, endpoints, listener, type Route, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";
import { until, watchFor } from "./support/wait.ts";

describeWith("envoy", "several Envoys, and hard times for one", () => {
  test("node groups and single nodes get what is theirs over what is everybody's", async () => {
    await using stack = createStack();
    const blue = stack.use(await startHttpBackend("blue"));
    const green = stack.use(await startHttpBackend("green"));
    const red = stack.use(await startHttpBackend("red"));
    const [plainPort = 0, edgePort = 0, ownPort = 0] = await freePorts(3);
    const site = stack.use(
      createSite({
        "xdskit.yaml": "groups:\n  - name: edge\n    match: { metadata: { role: edge } }\n",
        "web.json": [routes("routes", [{ cluster: "web" }]), cluster({ name: "web" }), endpoints("web", [blue.port])],
        "groups/edge/web.json": [
          endpoints("web", [green.port]),
          listener({ name: "edge", port: edgePort, routes: "routes" }),
        ],
        "nodes/own/web.json": [
          endpoints("web", [red.port]),
          listener({ name: "own", port: ownPort, routes: "routes" }),
        ],
        "nodes/plain/web.json": [listener({ name: "plain", port: plainPort, routes: "routes" })],
      }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const nodes = [
      { id: "plain", cluster: "e2e" },
      { id: "edge-1", cluster: "e2e", metadata: { role: "edge" } },
      { id: "own", cluster: "e2e" },
    ];
    for (const node of nodes) {
      const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port, node }));
      note("node groups", node.id, "ready, ms", await envoy.ready(2_000));
    }
    const answers = async (): Promise<string[]> =>
      Promise.all([plainPort, edgePort, ownPort].map(async (port) => (await httpGet({ port })).body));
    await until({ says: "all three serve", withinMs: 3_000 }, async () => !(await answers()).includes(""));
    expect(await answers()).toEqual(["blue", "green", "red"]);
    site.write({
      "web.json": [routes("routes", [{ cluster: "web" }]), cluster({ name: "web" }), endpoints("web", [red.port])],
    });
    await until(
      { says: "the base changed for whom it shows", withinMs: 2_000 },
      async () => (await answers()).join() === "red,green,red",
    );
    site.write({ "nodes/own": undefined });
    await until(
      { says: "the node's own listener is gone", withinMs: 5_000 },
      async () => (await answers()).join() === "red,green,",
    );
  });

  test.each(named(adsModes))("two Envoys with one node id are both served (%s)", async (_name, mode) => {
    await using stack = createStack();
    const blue = stack.use(await startHttpBackend("blue"));
    const green = stack.use(await startHttpBackend("green"));
    const site = stack.use(createSite({ "web.json": [cluster({ name: "web" }), endpoints("web", [blue.port])] }));
    const server = stack.use(await startXdsServer({ site }));
    const ports = await freePorts(2);
    const envoys = [];
    for (const port of ports) {
      // Each process has its own listener: two with one address would share it.
      const table = routes("inline", [{ cluster: "web" }], { validate_clusters: false });
      const manager = { route_config: untyped(table) };
      const own = untyped(listener({ name: "own", port, routes: "inline", manager }));
      const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port, staticListeners: [own] }));
      await envoy.ready(2_000);
      envoys.push(envoy);
    }
    const bodies = async (): Promise<string> =>
      (await Promise.all(ports.map(async (port) => (await httpGet({ port })).body))).join();
    await until({ says: "both serve", withinMs: 2_000 }, async () => (await bodies()) === "blue,blue");
    site.write({ "web.json": [cluster({ name: "web" }), endpoints("web", [green.port])] });
    const { ms } = await until(
      { says: "both follow", withinMs: 2_000 },
      async () => (await bodies()) === "green,green",
    );
    note("2.19 same node id twice", mode.name, "both follow, ms", ms);
    await envoys[1]?.[Symbol.asyncDispose]();
    site.write({ "web.json": [cluster({ name: "web", connectTimeoutMs: 900 }), endpoints("web", [blue.port])] });
    await until(
      { says: "the one left still follows", withinMs: 2_000 },
      async () => (await httpGet({ port: ports[0] ?? 0 })).body === "blue",
    );
  });

  test.each(named(modes))(
    "connections that grow old are moved without a lost request or a change (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const port = await freePort();
      const { envoy, load } = await serveWeb(stack, mode, port, [
        "--max-connection-age",
        "2s",
        "--max-connection-age-grace",
        "500ms",
      ]);
      const earlier = await envoy.stats();
      await until({ says: "connections have been given up", withinMs: 20_000 }, async () => {
        const stats = await envoy.stats();
        return stats("cluster.xds.upstream_cx_total") - earlier("cluster.xds.upstream_cx_total") >= times(2, 6);
      });
      const later = await envoy.stats();
      const unchanged = [
        "cluster_manager.cluster_modified",
        "cluster_manager.cluster_removed",
        "listener_manager.listener_modified",
      ];
      const rejected = ["cluster_manager.cds.update_rejected", "listener_manager.lds.update_rejected"];
      note("2.18 max connection age", mode.name, "connections", later("cluster.xds.upstream_cx_total"));
      expect({
        failed: (await load.stop()).failed,
        deltas: [...unchanged, ...rejected].map((name) => later(name) - earlier(name)),
        timers: await timersFired(envoy),
      }).toEqual({ failed: {}, deltas: [0, 0, 0, 0, 0], timers: {} });
    },
  );

  test("an Envoy that limits its own requests still converges on 100 clusters", async () => {
    await using stack = createStack();
    const port = await freePort();
    const blue = stack.use(await startHttpBackend("blue"));
    const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    const site = stack.use(
      createSite({
        "many.json": names.flatMap((name) => [cluster({ name }), endpoints(name, [blue.port])]),
        "web.json": [
          listener({ name: "http", port, routes: "routes" }),
          routes(
            "routes",
            names.map((name): Route => ({ prefix: `/${name}.`, cluster: name })),
          ),
        ],
      }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const ads = { rate_limit_settings: { max_tokens: 2, fill_rate: 2 } };
    const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port, ads }));
    note("2.21 rate limited client", adsDelta.name, "ready, ms", await envoy.ready(15_000));
    await until(
      { says: "the last cluster serves", withinMs: 5_000 },
      async () => (await httpGet({ port, path: "/many-99." })).status === 200,
    );
    const stats = await envoy.stats();
    expect({
      limited: stats("control_plane.rate_limit_enforced") > 0,
      answers: stats("cluster_manager.cds.update_success"),
      timers: await timersFired(envoy),
    }).toEqual({ limited: true, answers: 1, timers: {} });
  });

  test("a delta client that comes back with what it has is sent only what changed", async () => {
    await using stack = createStack();
    const many = (timeout: number, without: string): object[] =>
      Array.from({ length: 500 }, (_, index) => `many-${index}`)
        .filter((name) => name !== without)
        .map((name) => staticCluster(name, [1], { connect_timeout: name === "many-7" ? `${timeout}s` : "1s" }));
    const site = stack.use(createSite({ "many.json": many(1, "") }));
    const server = stack.use(await startXdsServer({ site }));
    const proxy = stack.use(await startTcpProxy(server.port));
    const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: proxy.port }));
    await envoy.ready(3_000);
    const first = proxy.take().fromServer;
    const earlier = await envoy.stats();
    const reconnect = async (meanwhile: () => Promise<unknown>): Promise<number> => {
      proxy.refuse(true);
      proxy.cut();
      await until({ says: "Envoy has noticed", withinMs: 5_000 }, async () => (await connectedStreams(envoy)) === 0);
      proxy.take();
      await meanwhile();
      proxy.refuse(false);
      await until({ says: "Envoy is back", withinMs: 10_000 }, async () => await isConnected(envoy));
      await watchFor(500);
      return proxy.take().fromServer;
    };
    const unchanged = await reconnect(async () => {});
    const changed = await reconnect(async () => {
      const revision = await server.revision();
      site.write({ "many.json": many(2, "many-8") });
      await until(
        { says: "the server has taken the edit", withinMs: 3_000 },
        async () => (await server.revision()) > revision,
      );
    });
    // Removals come last, a second after the reconnect.
    await until({ says: "the cluster that is gone goes", withinMs: 5_000 }, async () => {
      const now = await envoy.stats();
      return now("cluster_manager.cluster_removed") > earlier("cluster_manager.cluster_removed");
    });
    const later = await envoy.stats();
    note(
      "2.6 delta reconnect",
      adsDelta.name,
      "bytes: first, unchanged, 1 changed + 1 removed",
      [first, unchanged, changed].join(", "),
    );
    expect({
      unchanged: unchanged < 1_000,
      changed: changed < 1_500,
      modified: later("cluster_manager.cluster_modified") - earlier("cluster_manager.cluster_modified"),
      removed: later("cluster_manager.cluster_removed") - earlier("cluster_manager.cluster_removed"),
    }).toEqual({ unchanged: true, changed: true, modified: 1, removed: 1 });
  });

  test.each(named(adsModes))(
    "another replica with the same files changes nothing for an Envoy that moves to it (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const blue = stack.use(await startHttpBackend("blue"));
      const port = await freePort();
      const files = {
        "web.json": [
          cluster({ name: "web" }),
          endpoints("web", [blue.port]),
          listener({ name: "http", port, routes: "routes" }),
          routes("routes", [{ cluster: "web" }]),
        ],
      };
      const replicas: XdsServer[] = [];
      for (let count = 0; count < 2; count++) {
        replicas.push(stack.use(await startXdsServer({ site: stack.use(createSite(files)) })));
      }
      const ports = replicas.map((replica) => replica.port);
      const proxy = stack.use(await startTcpProxy(ports[0] ?? 0));
      const envoy = stack.use(await startEnvoy({ mode, xdsPort: proxy.port }));
      await envoy.ready(3_000);
      const load = stack.use(startHttpLoad({ port }));
      await load.answeredBy("blue", 2_000);
      const earlier = await envoy.stats();
      const versions = await envoy.texts("version_text");
      for (let flip = 1; flip <= times(2, 10); flip++) {
        proxy.target(ports[flip % 2] ?? 0);
        proxy.cut();
        await until({ says: "Envoy is at the other one", withinMs: 10_000 }, async () => {
          const rows = await replicas[flip % 2]?.admin("/api/v1/streams");
          return (rows as { total: number }).total === 1 && isConnected(envoy);
        });
      }
      await watchFor(1_000);
      const later = await envoy.stats();
      const changed = ["cluster_modified", "cluster_added", "cluster_removed"].map((name) => `cluster_manager.${name}`);
      expect({
        failed: (await load.stop()).failed,
        deltas: [...changed, "listener_manager.listener_modified"].map((name) => later(name) - earlier(name)),
        versions: await envoy.texts("version_text"),
        timers: await timersFired(envoy),
      }).toEqual({ failed: {}, deltas: [0, 0, 0, 0], versions, timers: {} });
    },
  );

  test("endpoints that change all the time end up right, in fewer answers than changes (2.11)", async () => {
    await using stack = createStack();
    const port = await freePort();
    const { envoy, load, site, web } = await serveWeb(stack, adsDelta, port, []);
    const others = [stack.use(await startHttpBackend("blue")), stack.use(await startHttpBackend("blue"))];
    const earlier = await envoy.stats();
    const flips = times(200, 1_000);
    for (let flip = 1; flip <= flips; flip++) {
      const flapping = flip % 2 === 0 ? others.map((backend) => backend.port) : [];
      site.write({ "endpoints.json": [endpoints("web", [web.port, ...flapping])] });
      await watchFor(10);
    }
    await until(
      { says: "all three endpoints are there", withinMs: 3_000 },
      async () => (await envoy.stats())("cluster.web.membership_total") === 3,
    );
    const answers = (await envoy.stats())("cluster.web.update_success") - earlier("cluster.web.update_success");
    note("2.11 endpoints churn", adsDelta.name, "changes, answers", `${flips}, ${answers}`);
    expect({ failed: (await load.stop()).failed, fewer: answers < flips / 2 }).toEqual({ failed: {}, fewer: true });
    site.write({ "endpoints.json": [endpoints("web", [])] });
    await until({ says: "no endpoint is left", withinMs: 2_000 }, async () => (await httpGet({ port })).status === 503);
    site.write({ "endpoints.json": [endpoints("web", [web.port])] });
    await until({ says: "one is back", withinMs: 2_000 }, async () => (await httpGet({ port })).status === 200);
  });

  test("a server that is told to stop sends its clients away and ends in order", async () => {
    await using stack = createStack();
    const port = await freePort();
    const { envoy, load, server } = await serveWeb(stack, adsDelta, port, []);
    const startedAt = performance.now();
    await server.process().stop(10_000);
    note("SIGTERM", adsDelta.name, "ended after, ms", Math.round(performance.now() - startedAt));
    expect(server.process().ended()).toEqual({ code: 0, signal: null });
    await watchFor(500);
    expect({ failed: (await load.stop()).failed, connected: await connectedStreams(envoy) }).toEqual({
      failed: {},
      connected: 0,
    });
  });

  test.each(named(times(adsModes.slice(1), adsModes)))(
    "20 MB of clusters arrive, and one change changes one (%s)",
    async (_name, mode) => {
      await using stack = createStack();
      const padding = "x".repeat(4_000);
      const many = (timeout: number): object[] =>
        Array.from({ length: 5_000 }, (_, index) =>
          staticCluster(`large-${index}`, [1], {
            connect_timeout: index === 7 ? `${timeout}s` : "1s",
            metadata: { filter_metadata: { padding: { text: padding } } },
          }),
        );
      const site = stack.use(createSite({ "large.json": many(1) }));
      const server = stack.use(await startXdsServer({ site }));
      const proxy = stack.use(await startTcpProxy(server.port));
      const envoy = stack.use(await startEnvoy({ mode, xdsPort: proxy.port }));
      const ms = await envoy.ready(14_000);
      const first = proxy.take().fromServer;
      const earlier = await envoy.stats();
      site.write({ "large.json": many(2) });
      await until({ says: "the change arrives", withinMs: 14_000 }, async () => {
        return (
          (await envoy.stats())("cluster_manager.cluster_modified") - earlier("cluster_manager.cluster_modified") === 1
        );
      });
      const stats = await envoy.stats();
      note("2.17 20 MB of clusters", mode.name, "ready, ms", ms);
      note("2.17 20 MB of clusters", mode.name, "bytes: first, one change", `${first}, ${proxy.take().fromServer}`);
      expect({
        large: first > 20_000_000,
        clusters: stats("cluster_manager.active_clusters"),
        timers: await timersFired(envoy),
      }).toEqual({
        large: true,
        clusters: 5_001,
        timers: {},
      });
    },
  );
});

interface ServedWeb {
  readonly envoy: Envoy;
  readonly load: HttpLoad;
  readonly server: XdsServer;
  readonly site: Site;
  readonly web: Backend;
}

/** Starts a server with flags, an Envoy with one HTTP listener, and requests through it. */
async function serveWeb(stack: Stack, mode: Mode, port: number, flags: readonly string[]): Promise<ServedWeb> {
  const web = stack.use(await startHttpBackend("blue"));
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
  const server = stack.use(await startXdsServer({ site, flags }));
  const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port }));
  await envoy.ready(3_000);
  const load = stack.use(startHttpLoad({ port }));
  await load.answeredBy("blue", 2_000);
  return { envoy, load, server, site, web };
}

/** A resource without its `@type`, as a field of another message. */
function untyped(resource: object): object {
  return Object.fromEntries(Object.entries(resource).filter(([key]) => key !== "@type"));
}
