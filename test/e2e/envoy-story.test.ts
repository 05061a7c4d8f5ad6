import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliveries, fates, sourceState } from "./support/admin.ts";
import { connectedStreams, type Envoy, isConnected, startEnvoy, timersFired } from "./support/envoy.ts";
import { type Backend, startHttpBackend } from "./support/http-backend.ts";
import { type HttpLoad, httpGet, startHttpLoad } from "./support/http-load.ts";
import { note, times } from "./support/measure.ts";
import { configSource, type Mode, modes, named, unifiedModes } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePorts } from "./support/port.ts";
import { cluster, endpoints, listener, type Route, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

/** One Envoy and one server, through every kind of configuration change, in each mode. */
describeWith("envoy", "Envoy", () => {
  describe.each(named([...modes, ...times([], unifiedModes)]))("%s", (_name, mode) => {
    const stack = createStack();
    let blue: Backend;
    let green: Backend;
    let site: Site;
    let server: XdsServer;
    let envoy: Envoy;
    let port = 0;
    let extraPort = 0;

    beforeAll(async () => {
      blue = stack.use(await startHttpBackend("blue"));
      green = stack.use(await startHttpBackend("green"));
      [port = 0, extraPort = 0] = await freePorts(2);
      site = stack.use(createSite(firstSite(mode, { port, extraPort, blue: blue.port, green: green.port })));
      server = stack.use(await startXdsServer({ site }));
      envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port }));
    });
    afterAll(() => stack[Symbol.asyncDispose]());

    const loadOn = (): HttpLoad => stack.use(startHttpLoad({ port }));
    /** Envoy reports a stream as connected as soon as it is open, even if it is about to be rejected. */
    const isServed = async (): Promise<boolean> => {
      const { cds, eds, lds, rds } = await fates(server, "e2e-1");
      return [cds, eds, lds, rds].every((fate) => fate !== undefined) && (await isConnected(envoy));
    };
    /** What must never happen in this story: an initial fetch timeout, a cluster that stays in warming. */
    const quietly = async (): Promise<object> => {
      const stats = await envoy.stats();
      return { timers: await timersFired(envoy), warming: stats("cluster_manager.warming_clusters") };
    };
    const quiet = { timers: {}, warming: 0 };

    test("starts at once, serves, and then nobody says anything more", async () => {
      const ms = await envoy.ready(2_000);
      note("2.1 cold start", mode.name, "ready, ms", ms);
      expect(await httpGet({ port })).toEqual({ status: 200, body: "blue" });
      expect(await quietly()).toEqual(quiet);
      const accepted = { cds: "acked", eds: "acked", lds: "acked", rds: "acked" };
      await until({ says: "the server knows that all is accepted", withinMs: 1_000 }, async () =>
        isDeepStrictEqual(await fates(server, "e2e-1"), accepted),
      );
      const earlier = await updateAttempts(envoy);
      await watchFor(3_000);
      expect(await updateAttempts(envoy)).toEqual(earlier);
      expect(earlier).toEqual({ cds: expect.any(Number), lds: expect.any(Number), rejected: 0 });
    });

    test("takes a changed route while requests go on", async () => {
      const load = loadOn();
      await load.answeredBy("blue", 2_000);
      site.write({ "routes.yaml": routeFile([{ cluster: "green" }]) });
      const ms = await load.answeredBy("green", 2_000);
      note("route changed", mode.name, "first answer, ms", ms);
      expect((await load.stop()).failed).toEqual({});
      site.writeInPlace("routes.yaml", routeFile([{ cluster: "blue" }]));
      await until(
        { says: "the old route is back", withinMs: 2_000 },
        async () => (await httpGet({ port })).body === "blue",
      );
      expect(await quietly()).toEqual(quiet);
    });

    test("follows endpoints that move", async () => {
      const load = loadOn();
      await load.answeredBy("blue", 2_000);
      site.write({ "endpoints/blue.json": [endpoints("blue", [green.port])] });
      const ms = await load.answeredBy("green", 2_000);
      note("endpoints moved", mode.name, "first answer, ms", ms);
      site.write({ "endpoints/blue.json": [endpoints("blue", [blue.port])] });
      await load.answeredBy("blue", 2_000);
      expect((await load.stop()).failed).toEqual({});
    });

    test("warms a changed cluster whose endpoints stay the same without waiting for a timer", async () => {
      const load = loadOn();
      for (let round = 1; round <= times(2, 10); round++) {
        const earlier = await envoy.stats();
        site.write({ "clusters.json": clusterFile(mode, { connectTimeoutMs: 1_000 + round }) });
        const { ms } = await until({ says: "the changed cluster is in use", withinMs: 1_500 }, async () => {
          const now = await envoy.stats();
          const modified = now("cluster_manager.cluster_modified") - earlier("cluster_manager.cluster_modified");
          return modified >= 1 && now("cluster_manager.warming_clusters") === 0;
        });
        const later = await envoy.stats();
        note("2.3 cluster changed", mode.name, "warm again, ms", ms);
        expect({
          modified: later("cluster_manager.cluster_modified") - earlier("cluster_manager.cluster_modified"),
          members: later("cluster.blue.membership_total"),
        }).toEqual({ modified: 1, members: 1 });
      }
      expect((await load.stop()).failed).toEqual({});
      expect(await quietly()).toEqual(quiet);
    });

    test("warms a second cluster that shares a service name, at once", async () => {
      const shared = cluster({ name: "blue-too", serviceName: "blue", source: configSource(mode) });
      site.write({
        "more.json": [shared],
        "routes.yaml": routeFile([{ prefix: "/too", cluster: "blue-too" }, { cluster: "blue" }]),
      });
      const { ms } = await until({ says: "the second cluster is in use", withinMs: 2_000 }, async () => {
        const answer = await httpGet({ port, path: "/too" });
        return answer.status === 200 && (await envoy.stats())("cluster.blue-too.membership_total") === 1;
      });
      note("2.3 shared service name", mode.name, "in use, ms", ms);
      expect(await quietly()).toEqual(quiet);
      site.write({ "routes.yaml": routeFile([{ cluster: "blue" }]), "more.json": undefined });
      await until(
        { says: "the second cluster is gone", withinMs: 3_000 },
        async () => !(await clusterNames(envoy)).includes("blue-too"),
      );
    });

    test("adds a cluster, uses it and deletes it, edit by edit, without a lost request", async () => {
      const load = loadOn();
      await load.answeredBy("blue", 2_000);
      for (let round = 0; round < times(2, 20); round++) {
        const name = `added-${round}`;
        site.write({ "added.json": addedCluster(mode, name, green.port) });
        await until({ says: "the cluster is there", withinMs: 2_000 }, async () =>
          (await clusterNames(envoy)).includes(name),
        );
        site.write({ "routes.yaml": routeFile([{ cluster: name }]) });
        await load.answeredBy("green", 2_000);
        site.write({ "routes.yaml": routeFile([{ cluster: "blue" }]) });
        await load.answeredBy("blue", 2_000);
        site.write({ "added.json": undefined });
        await until(
          { says: "the cluster is gone", withinMs: 3_000 },
          async () => !(await clusterNames(envoy)).includes(name),
        );
      }
      expect((await load.stop()).failed).toEqual({});
      expect(await quietly()).toEqual(quiet);
    });

    test("swaps one cluster for another in one edit without a lost request", async () => {
      const load = loadOn();
      const rounds = times(2, 50);
      for (let round = 0; round < rounds; round++) {
        const [name, backend] = round % 2 === 0 ? (["swap-y", green] as const) : (["swap-x", blue] as const);
        site.write({
          "swap.json": addedCluster(mode, name, backend.port),
          "routes.yaml": routeFile([{ cluster: name }]),
        });
        await load.answeredBy(backend.name, 3_000);
        await until({ says: "only the new cluster is left", withinMs: 3_000 }, async () => {
          const names = await clusterNames(envoy);
          return names.filter((each) => each.startsWith("swap-")).join() === name;
        });
      }
      const { total, failed } = await load.stop();
      note(
        "2.2 swap in one edit",
        mode.name,
        `${rounds} swaps, requests, failed`,
        `${total}, ${JSON.stringify(failed)}`,
      );
      expect(failed).toEqual({});
      site.write({ "routes.yaml": routeFile([{ cluster: "blue" }]), "swap.json": undefined });
      await until(
        { says: "the first route is back", withinMs: 3_000 },
        async () => (await httpGet({ port })).body === "blue",
      );
      // The next step begins when this one is over: the cluster goes once nothing uses it any more.
      await until(
        { says: "the swapped clusters are gone", withinMs: 3_000 },
        async () => !(await clusterNames(envoy)).some((each) => each.startsWith("swap-")),
      );
      expect(await quietly()).toEqual(quiet);
    });

    test("keeps what it has while the directory has a mistake in it", async () => {
      const earlier = await updateAttempts(envoy);
      site.write({
        "broken.yaml": "resources:\n- '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster\n  nmae: x\n",
      });
      await until({ says: "the server has seen the mistake", withinMs: 3_000 }, async () =>
        (await sourceState(server)).text.includes("broken.yaml"),
      );
      site.write({ "endpoints/blue.json": [endpoints("blue", [green.port])] });
      await watchFor(500);
      expect([await httpGet({ port }), await updateAttempts(envoy)]).toEqual([{ status: 200, body: "blue" }, earlier]);
      site.write({ "broken.yaml": undefined });
      await until(
        { says: "the edit behind the mistake arrives", withinMs: 2_000 },
        async () => (await httpGet({ port })).body === "green",
      );
      site.write({ "endpoints/blue.json": [endpoints("blue", [blue.port])] });
      await until(
        { says: "the first backend is back", withinMs: 2_000 },
        async () => (await httpGet({ port })).body === "blue",
      );
    });

    test("refuses a listener, keeps the rest, and is told the fix and the way back once each", async () => {
      const load = loadOn();
      await load.answeredBy("blue", 2_000);
      const earlier = await envoy.stats();
      expect((await httpGet({ port: extraPort })).status).toBe(200);
      // One edit: a listener that only Envoy can reject, a changed one, and a removed one.
      site.write({
        "listeners.json": [...listenerFile(mode, { port, serverName: "changed" }), refusedListener(mode, extraPort)],
      });
      await until({ says: "Envoy refuses it", withinMs: 3_000 }, async () => {
        const stats = await envoy.stats();
        return stats("listener_manager.lds.update_rejected") - earlier("listener_manager.lds.update_rejected") === 1;
      });
      await watchFor(times(1_500, 5_000));
      const refused = await envoy.stats();
      expect(refused("listener_manager.lds.update_rejected") - earlier("listener_manager.lds.update_rejected")).toBe(1);
      expect(await serverNameOf(port)).toBe("changed");
      const refusals = (await deliveries(server)).filter((row) => row.state === "nacked");
      expect(refusals).toMatchObject([
        { node: "e2e-1", shortName: "lds", reason: expect.stringContaining("refused-by-envoy") },
      ]);
      const fixed = listener({
        name: "refused-by-envoy",
        port: extraPort,
        routes: "routes",
        source: configSource(mode),
      });
      site.write({ "listeners.json": [...listenerFile(mode, { port, serverName: "changed" }), fixed] });
      await until(
        { says: "the fix is live", withinMs: 3_000 },
        async () => (await httpGet({ port: extraPort })).status === 200,
      );
      // Restores the first listeners: the server must resend them, although the client may still hold them.
      site.write({ "listeners.json": firstListeners(mode, { port, extraPort }) });
      await until({ says: "the first listeners are back", withinMs: 5_000 }, async () => {
        const names = (await envoy.dumped("dynamic_listeners")).map((each) => String(each["name"]));
        return names.sort().join() === "extra,http" && (await httpGet({ port: extraPort })).status === 200;
      });
      expect((await load.stop()).failed).toEqual({});
      const later = await envoy.stats();
      expect(later("listener_manager.lds.update_rejected") - earlier("listener_manager.lds.update_rejected")).toBe(1);
    });

    test("refuses a route table and takes the fix", async () => {
      const earlier = await envoy.stats();
      site.write({ "routes.yaml": refusedRoutes() });
      await until({ says: "Envoy refuses it", withinMs: 3_000 }, async () => {
        const stats = await envoy.stats();
        return stats("http.http.rds.routes.update_rejected") - earlier("http.http.rds.routes.update_rejected") === 1;
      });
      expect(await httpGet({ port })).toEqual({ status: 200, body: "blue" });
      site.write({ "routes.yaml": routeFile([{ cluster: "green" }]) });
      await until({ says: "the fix is live", withinMs: 2_000 }, async () => (await httpGet({ port })).body === "green");
      site.write({ "routes.yaml": routeFile([{ cluster: "blue" }]) });
      await until({ says: "and the way back", withinMs: 2_000 }, async () => (await httpGet({ port })).body === "blue");
    });

    test("loses no request while the server is killed and comes back, and is told nothing it has", async () => {
      const load = loadOn();
      const earlier = await envoy.stats();
      // One version per type; subscriptions to single resources show the type's version when they were last updated.
      const versions = await envoy.texts("[cl]ds.version_text");
      await server.kill();
      await until({ says: "Envoy has noticed", withinMs: 10_000 }, async () => (await connectedStreams(envoy)) === 0);
      await watchFor(times(1_000, 10_000));
      await server.start();
      const { ms } = await until({ says: "Envoy is back", withinMs: 30_000 }, isServed);
      note("2.5 kill -9 and restart", mode.name, "connected again, ms", ms);
      await watchFor(1_000);
      const later = await envoy.stats();
      const changed = [
        "cluster_manager.cluster_modified",
        "cluster_manager.cluster_added",
        "cluster_manager.cluster_removed",
      ];
      const listeners = ["listener_manager.listener_modified", "listener_manager.listener_added"];
      expect({
        failed: (await load.stop()).failed,
        deltas: [...changed, ...listeners].map((name) => later(name) - earlier(name)),
        versions: await envoy.texts("[cl]ds.version_text"),
        ...(await quietly()),
      }).toEqual({ failed: {}, deltas: [0, 0, 0, 0, 0], versions, ...quiet });
    });

    test("is told within two seconds what changed while the server was down", async () => {
      const load = loadOn();
      await load.answeredBy("blue", 2_000);
      await server.kill();
      site.write({ "routes.yaml": routeFile([{ cluster: "green" }]) });
      await until({ says: "Envoy has noticed", withinMs: 10_000 }, async () => (await connectedStreams(envoy)) === 0);
      await server.start();
      await until({ says: "Envoy is back", withinMs: 30_000 }, isServed);
      const ms = await load.answeredBy("green", 2_000);
      note("2.5 changed while down", mode.name, "first answer, ms", ms);
      expect((await load.stop()).failed).toEqual({});
      expect(await quietly()).toEqual(quiet);
    });

    test("is served as before when the server comes back to a broken directory", async () => {
      const load = loadOn();
      const earlier = await envoy.stats();
      await server.kill();
      site.write({ "broken.yaml": "resources: [" });
      await server.start({ expectReady: false });
      await until({ says: "the server has seen the mistake", withinMs: 3_000 }, async () => {
        return (await sourceState(server)).state === "failed";
      });
      await until({ says: "Envoy is back", withinMs: 30_000 }, isServed);
      await watchFor(times(500, 10_000));
      const later = await envoy.stats();
      const removed = ["cluster_manager.cluster_removed", "listener_manager.listener_removed"];
      expect(removed.map((name) => later(name) - earlier(name))).toEqual([0, 0]);
      site.write({ "broken.yaml": undefined });
      await until({ says: "the mistake is gone", withinMs: 30_000 }, async () => {
        return (await sourceState(server)).state === "good";
      });
      expect((await load.stop()).failed).toEqual({});
      expect(await quietly()).toEqual(quiet);
    });

    test("refuses a cluster, takes the good ones beside it, and takes the fix", async () => {
      const earlier = await envoy.stats();
      const rejected = "cluster_manager.cds.update_rejected";
      const good = addedCluster(mode, "good-one", green.port);
      site.write({ "refused.json": [refusedCluster("refused-one"), ...good] });
      await until(
        { says: "Envoy refuses it", withinMs: 3_000 },
        async () => (await envoy.stats())(rejected) > earlier(rejected),
      );
      await until({ says: "the good one is there", withinMs: 2_000 }, async () =>
        (await clusterNames(envoy)).includes("good-one"),
      );
      await watchFor(1_000);
      expect((await envoy.stats())(rejected) - earlier(rejected)).toBe(1);
      site.write({ "refused.json": addedCluster(mode, "refused-one", green.port) });
      const { ms } = await until({ says: "the fix is live, the other one gone", withinMs: 3_000 }, async () => {
        const names = await clusterNames(envoy);
        return names.includes("refused-one") && !names.includes("good-one");
      });
      note("2.4 cluster refused and fixed", mode.name, "fix live, ms", ms);
      site.write({ "refused.json": undefined });
      await until({ says: "the server has no refusals left", withinMs: 3_000 }, async () =>
        (await deliveries(server)).every((row) => row.state !== "nacked"),
      );
      expect(await quietly()).toEqual(quiet);
    });

    test("loses a listener that is deleted", async () => {
      site.write({ "listeners.json": listenerFile(mode, { port, serverName: "first" }) });
      await until(
        { says: "the extra listener is closed", withinMs: 5_000 },
        async () => (await httpGet({ port: extraPort })).status === 0,
      );
      expect((await httpGet({ port })).status).toBe(200);
    });
  });

  test("an Envoy that was there before the server is ready soon after it", async () => {
    await using stack = createStack();
    const blue = stack.use(await startHttpBackend("blue"));
    const [port = 0, extraPort = 0, xdsPort = 0] = await freePorts(3);
    // Else it depends on how long the server starts: Envoy doubles its pause up to half a minute.
    const mode: Mode = { ...(modes[0] as Mode), longestBackOff: "1s" };
    const site = stack.use(createSite(firstSite(mode, { port, extraPort, blue: blue.port, green: blue.port })));
    const envoy = stack.use(await startEnvoy({ mode, xdsPort }));
    await until({ says: "Envoy has tried to connect", withinMs: 5_000 }, async () => {
      return (await envoy.stats())("cluster.xds.upstream_cx_connect_fail") >= 1;
    });
    const server = stack.use(await startXdsServer({ site, port: xdsPort }));
    const { ms } = await until(
      { says: "the new Envoy serves", withinMs: 5_000 },
      async () => (await httpGet({ port })).status === 200,
    );
    note("2.1 Envoy before the server", mode.name, "serving after the server is ready, ms", ms);
    expect({ timers: await timersFired(envoy), port: server.port }).toEqual({ timers: {}, port: xdsPort });
  });

  test.each(named(modes))("an empty directory lets Envoy start at once (%s)", async (_name, mode) => {
    await using stack = createStack();
    const site = stack.use(createSite());
    const server = stack.use(await startXdsServer({ site, flags: ["--allow-empty"] }));
    const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port }));
    note("2.1 empty directory", mode.name, "ready, ms", await envoy.ready(2_000));
    expect(await timersFired(envoy)).toEqual({});
  });
});

interface Ports {
  readonly port: number;
  readonly extraPort: number;
  readonly blue: number;
  readonly green: number;
}

function firstSite(mode: Mode, ports: Ports): Record<string, readonly object[] | string> {
  return {
    "clusters.json": clusterFile(mode, { connectTimeoutMs: 1_000 }),
    "endpoints/blue.json": [endpoints("blue", [ports.blue])],
    "endpoints/green.json": [endpoints("green", [ports.green])],
    "listeners.json": firstListeners(mode, ports),
    "routes.yaml": routeFile([{ cluster: "blue" }]),
  };
}

function clusterFile(mode: Mode, blue: { connectTimeoutMs: number }): object[] {
  const source = configSource(mode);
  return [cluster({ name: "blue", source, ...blue }), cluster({ name: "green", source })];
}

function addedCluster(mode: Mode, name: string, port: number): object[] {
  return [cluster({ name, source: configSource(mode) }), endpoints(name, [port])];
}

function firstListeners(mode: Mode, { port, extraPort }: Pick<Ports, "port" | "extraPort">): object[] {
  const extra = listener({ name: "extra", port: extraPort, routes: "routes", source: configSource(mode) });
  return [...listenerFile(mode, { port, serverName: "first" }), extra];
}

function listenerFile(mode: Mode, { port, serverName }: { port: number; serverName: string }): object[] {
  const source = configSource(mode);
  const manager = { server_name: serverName, rds: { route_config_name: "routes", config_source: source } };
  return [listener({ name: "http", port, routes: "routes", manager })];
}

/** Passes validation; only Envoy parses the address. */
function refusedCluster(name: string): object {
  return staticCluster(name, [1], {
    load_assignment: {
      cluster_name: name,
      endpoints: [
        { lb_endpoints: [{ endpoint: { address: { socket_address: { address: "not-an-ip", port_value: 1 } } } }] },
      ],
    },
  });
}

/** Passes validation; only Envoy compiles the script. */
function refusedListener(mode: Mode, port: number): object {
  const script = {
    name: "script",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
      default_source_code: { inline_string: "this is not lua (" },
    },
  };
  return listener({ name: "refused-by-envoy", port, routes: "routes", source: configSource(mode), filters: [script] });
}

/** A route table as YAML with a comment. */
function routeFile(list: readonly Route[]): string {
  const [table] = [
    routes("routes", list) as {
      virtual_hosts: { routes: { match: { prefix: string }; route: { cluster: string } }[] }[];
    },
  ];
  const lines = table.virtual_hosts.flatMap((host) =>
    host.routes.map(
      (route) => `    - match: { prefix: "${route.match.prefix}" }\n      route: { cluster: ${route.route.cluster} }`,
    ),
  );
  return `# the only route table
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: routes
virtual_hosts:
  - name: all
    domains: ["*"]
    routes:
${lines.join("\n")}
`;
}

/** A route table with an invalid regular expression that only RE2 detects. */
function refusedRoutes(): string {
  return routeFile([{ cluster: "blue" }]).replace('{ prefix: "/" }', '{ safe_regex: { regex: "a{1001}" } }');
}

async function updateAttempts(envoy: Envoy): Promise<{ cds: number; lds: number; rejected: number }> {
  const stats = await envoy.stats();
  return {
    cds: stats("cluster_manager.cds.update_attempt"),
    lds: stats("listener_manager.lds.update_attempt"),
    rejected: stats("cluster_manager.cds.update_rejected") + stats("listener_manager.lds.update_rejected"),
  };
}

async function clusterNames(envoy: Envoy): Promise<string[]> {
  const dumped = await envoy.dumped("dynamic_active_clusters");
  return dumped.map((each) => String((each["cluster"] as { name?: unknown } | undefined)?.name));
}

async function serverNameOf(port: number): Promise<string | null> {
  return (await fetch(`http://127.0.0.1:${port}/`)).headers.get("server");
}
