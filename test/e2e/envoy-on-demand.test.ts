import { expect, test } from "vitest";
import { type Envoy, isConnected, startEnvoy, timersFired } from "./support/envoy.ts";
import { type Backend, startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsDelta, configSource, type Mode, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type FileContent, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const FAST_MS = 1_000;
/** Envoy subscribes to these over delta only. */
const deltaPerType: Mode = { name: "delta", apiType: "DELTA_GRPC", aggregated: false };
const deltaModes = named([adsDelta, deltaPerType]);

/** Resources that Envoy subscribes to only when a request needs them. */
describeWith("envoy", "on demand", () => {
  test.each(deltaModes)(
    "%s: virtual hosts come with the first request for them, and unknown ones are refused fast (VHDS)",
    async (_, mode) => {
      await using stack = createStack();
      const port = await freePort();
      const { site, server, envoy, web } = await startPair(stack, mode, (backend) => ({
        "web.json": [...webOf(mode, backend), listenerFor(mode, port, onDemandFilter({})), hostedRoutes(mode)],
        "hosts.json": [virtualHost("routes", ["base.example"])],
        "on-demand/hosts.json": [
          virtualHost("routes", ["first.example", "second.example"]),
          virtualHost("routes", ["*.wild.example"]),
          ...Array.from({ length: 500 }, (_, i) => virtualHost("routes", [`host-${i}.example`])),
        ],
      }));
      await envoy.ready(3_000);
      const ask = askFor(port, (host) => ({ host }));
      const known = await ask("first.example");
      note("2.12 VHDS", mode.name, "first request, ms", Math.round(known.ms));
      const good = ["base.example", "SECOND.example", "a.wild.example", "b.wild.example", "host-7.example"];
      expect([known, ...(await inTurn(good, ask))].map(({ status, body }) => [status, body])).toEqual(
        Array(6).fill([200, web.name]),
      );
      const unknown = await inTurn(["late.example", "late.example", "wild.example"], ask);
      note("2.12 VHDS", mode.name, "unknown host, ms", Math.round(Math.max(...unknown.map(({ ms }) => ms))));
      expect(unknown.map(({ status, ms }) => [status, ms < FAST_MS])).toEqual(Array(3).fill([404, true]));
      const hosts = (await envoy.dumped("dynamic_route_configs")).map((config) => JSON.stringify(config)).join();
      expect(hosts.includes("host-8.example")).toBe(false);

      const changed = [virtualHost("routes", ["first.example"], { direct_response: { status: 418 } })];
      site.write({ "on-demand/hosts.json": changed });
      await until(
        { says: "the changed host answers", withinMs: 2_000 },
        async () => (await ask("first.example")).status === 418,
      );
      await until(
        { says: "the deleted host is gone", withinMs: 2_000 },
        async () => (await ask("a.wild.example")).status === 404,
      );
      site.write({ "on-demand/late.json": [virtualHost("routes", ["*.example"])] });
      await until(
        { says: "the late host answers", withinMs: 2_000 },
        async () => (await ask("late.example")).status === 200,
      );
      // Envoy does not subscribe to a host that matches a domain it already has, even if there is a better match.
      const revision = await server.revision();
      site.write({
        "on-demand/better.json": [virtualHost("routes", ["new.example"], { direct_response: { status: 418 } })],
      });
      await until(
        { says: "the better host is there", withinMs: 2_000 },
        async () => (await server.revision()) > revision,
      );
      expect((await ask("new.example")).status).toBe(200);
      site.write({
        "web.json": [
          ...webOf(mode, web),
          listenerFor(mode, port, onDemandFilter({})),
          hostedRoutes(mode, { response_headers_to_add: [{ header: { key: "x-table", value: "2" } }] }),
        ],
      });
      await until({ says: "Envoy has the changed table", withinMs: 2_000 }, async () => {
        return JSON.stringify(await envoy.dumped("dynamic_route_configs")).includes("x-table");
      });
      expect(
        (await inTurn(["base.example", "first.example", "late.example"], ask)).map(({ status }) => status),
      ).toEqual([200, 418, 200]);
      expect(await timersFired(envoy)).toEqual({});
    },
  );

  test("clusters are found by the request that names them, and unknown ones are refused fast (ODCDS)", async () => {
    await using stack = createStack();
    const port = await freePort();
    const { site, envoy, server, web } = await startPair(stack, adsDelta, (backend) => ({
      "web.json": [...webOf(adsDelta, backend), ...routedByHeader(adsDelta, port)],
      "on-demand/clusters.json": [
        ...webOf(adsDelta, backend, "more"),
        ...Array.from({ length: 500 }, (_, i) => cluster({ name: `never-${i}` })),
      ],
    }));
    await envoy.ready(3_000);
    const ask = askFor(port, (name) => ({ "x-cluster": name }));
    const known = await ask("more");
    note("2.13 ODCDS", adsDelta.name, "first request, ms", Math.round(known.ms));
    const unknown = await ask("late");
    note("2.13 ODCDS", adsDelta.name, "unknown cluster, ms", Math.round(unknown.ms));
    expect({
      statuses: [(await ask("web")).status, known.status, unknown.status],
      isFast: unknown.ms < FAST_MS,
      clusters: (await envoy.dumped("dynamic_active_clusters")).length,
    }).toEqual({ statuses: [200, 200, 503], isFast: true, clusters: 2 });
    site.write({ "on-demand/late.json": webOf(adsDelta, web, "late") });
    await until({ says: "the late cluster serves", withinMs: 2_000 }, async () => (await ask("late")).status === 200);
    const earlier = await envoy.stats();
    await server.kill();
    await server.start();
    await until({ says: "Envoy is back", withinMs: 15_000 }, () => isConnected(envoy));
    const later = await envoy.stats();
    const changed = ["cluster_added", "cluster_modified", "cluster_removed"].map((name) => `cluster_manager.${name}`);
    expect({
      statuses: (await inTurn(["web", "late", "more"], ask)).map(({ status }) => status),
      deltas: changed.map((name) => later(name) - earlier(name)),
      timers: await timersFired(envoy),
    }).toEqual({ statuses: [200, 200, 200], deltas: [0, 0, 0], timers: {} });
  });

  // On a stream for on-demand clusters only, Envoy 1.39 receives only the first cluster that it subscribed to.
  test.each([
    ["is found by the request that names it", true],
    ["that is unknown is refused fast, and serves once it exists", false],
  ])("on a stream of its own, the first cluster %s (ODCDS)", async (_, isKnown) => {
    await using stack = createStack();
    const port = await freePort();
    const mode = deltaPerType;
    const { site, envoy, web } = await startPair(stack, mode, (backend) => ({
      "web.json": [...webOf(mode, backend), ...routedByHeader(mode, port)],
      ...(isKnown ? { "on-demand/first.json": webOf(mode, backend, "first") } : {}),
    }));
    await envoy.ready(3_000);
    const ask = askFor(port, (name) => ({ "x-cluster": name }));
    const { status, ms } = await ask("first");
    note("2.13 ODCDS", mode.name, isKnown ? "first request, ms" : "unknown cluster, ms", Math.round(ms));
    expect([(await ask("web")).status, status, ms < FAST_MS]).toEqual([200, isKnown ? 200 : 503, true]);
    site.write({ "on-demand/first.json": webOf(mode, web, "first") });
    await until({ says: "the cluster serves", withinMs: 2_000 }, async () => (await ask("first")).status === 200);
    expect(await timersFired(envoy)).toEqual({});
  });

  test.each(deltaModes)("%s: single endpoints come and go in their collection (LEDS)", async (_, mode) => {
    await using stack = createStack();
    const port = await freePort();
    const other = stack.use(await startHttpBackend("other"));
    const table = routes("routes", [{ cluster: "web" }]);
    const { site, envoy, web } = await startPair(stack, mode, (backend) => ({
      "web.json": [
        cluster({ name: "web", source: configSource(mode) }),
        collectionOf(mode),
        listenerFor(mode, port),
        table,
      ],
      "endpoints.json": [lbEndpoint("one", backend.port)],
    }));
    note("LEDS", mode.name, "ready, ms", await envoy.ready(3_000));
    const ask = askFor(port, () => ({}));
    expect((await ask("")).body).toBe(web.name);
    site.write({ "endpoints.json": [lbEndpoint("two", other.port)] });
    await until({ says: "the other endpoint serves alone", withinMs: 2_000 }, async () =>
      (await inTurn(["", "", "", ""], ask)).every(({ body }) => body === other.name),
    );
    const before = (await envoy.stats())("cluster_manager.cluster_modified");
    site.write({
      "web.json": [
        cluster({ name: "web", source: configSource(mode), connectTimeoutMs: 700 }),
        collectionOf(mode),
        listenerFor(mode, port),
        table,
      ],
    });
    const { ms } = await until({ says: "the changed cluster is warm", withinMs: 5_000 }, async () => {
      const stat = await envoy.stats();
      return stat("cluster_manager.cluster_modified") > before && stat("cluster_manager.warming_clusters") === 0;
    });
    note("LEDS", mode.name, "changed cluster warm, ms", ms);
    expect([(await ask("")).body, await timersFired(envoy)]).toEqual([other.name, {}]);
    site.write({ "endpoints.json": [], "none.json": [cluster({ name: "unused", source: configSource(mode) })] });
    await until({ says: "no endpoint is left", withinMs: 2_000 }, async () => (await ask("")).status === 503);
    site.write({ "endpoints.json": [lbEndpoint("one", web.port)] });
    await until({ says: "an endpoint is back", withinMs: 2_000 }, async () => (await ask("")).body === web.name);
  });

  test.each(deltaModes)("%s: a cluster whose collection is empty is ready at once (LEDS)", async (_, mode) => {
    await using stack = createStack();
    const port = await freePort();
    const { site, envoy, web } = await startPair(stack, mode, () => ({
      "web.json": [
        cluster({ name: "web", source: configSource(mode) }),
        collectionOf(mode),
        listenerFor(mode, port),
        routes("routes", [{ cluster: "web" }]),
      ],
    }));
    await envoy.ready(3_000);
    const ask = askFor(port, () => ({}));
    expect([(await ask("")).status, await timersFired(envoy)]).toEqual([503, {}]);
    site.write({ "endpoints.json": [lbEndpoint("one", web.port)] });
    await until({ says: "the first endpoint serves", withinMs: 2_000 }, async () => (await ask("")).status === 200);
  });
});

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
}

/** Sends a request that names a resource in its headers. */
function askFor(port: number, headers: (name: string) => Record<string, string>): (name: string) => Promise<Reply> {
  return async (name) => {
    const startedAt = performance.now();
    const answer = await httpGet({ port, headers: headers(name) });
    return { ...answer, ms: performance.now() - startedAt };
  };
}

async function inTurn(names: readonly string[], ask: (name: string) => Promise<Reply>): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for (const name of names) replies.push(await ask(name));
  return replies;
}

async function startPair(
  stack: Stack,
  mode: Mode,
  files: (backend: Backend) => Record<string, FileContent>,
): Promise<{ readonly site: Site; readonly server: XdsServer; readonly envoy: Envoy; readonly web: Backend }> {
  const web = stack.use(await startHttpBackend("web"));
  const site = stack.use(createSite(files(web)));
  const server = stack.use(await startXdsServer({ site }));
  const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port }));
  return { site, server, envoy, web };
}

function webOf(mode: Mode, { port }: Backend, name = "web"): readonly object[] {
  return [cluster({ name, source: configSource(mode) }), endpoints(name, [port])];
}

function listenerFor(mode: Mode, port: number, ...filters: readonly object[]): object {
  return listener({ name: "http", port, routes: "routes", source: configSource(mode), filters });
}

/** A listener that routes by a cluster name in a header. */
function routedByHeader(mode: Mode, port: number): readonly object[] {
  const filter = onDemandFilter({ odcds: { source: configSource(mode), timeout: "5s" } });
  const byHeader = { route: { cluster_header: "x-cluster" } };
  return [listenerFor(mode, port, filter), routes("routes", [{ cluster: "web", more: byHeader }])];
}

/** A route table without virtual hosts of its own. */
function hostedRoutes(mode: Mode, more: object = {}): object {
  return { ...routes("routes", []), virtual_hosts: [], vhds: { config_source: configSource(mode) }, ...more };
}

function onDemandFilter(settings: object): object {
  const type = "type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand";
  return { name: "envoy.filters.http.on_demand", typed_config: { "@type": type, ...settings } };
}

/** A virtual host of a route table; Envoy ignores it unless its name starts with the table's. */
function virtualHost(table: string, domains: readonly string[], more: object = { route: { cluster: "web" } }): object {
  return {
    "@type": "type.googleapis.com/envoy.config.route.v3.VirtualHost",
    name: `${table}/of ${domains.join(" and ")}`,
    domains,
    routes: [{ match: { prefix: "/" }, ...more }],
  };
}

const COLLECTION = "xdstp://mesh/envoy.config.endpoint.v3.LbEndpoint/web";

/** The ClusterLoadAssignment of `web`, which takes its endpoints from a LEDS collection. */
function collectionOf(mode: Mode): object {
  const leds = { leds_config: configSource(mode), leds_collection_name: `${COLLECTION}/*` };
  return {
    "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    cluster_name: "web",
    endpoints: [{ locality: { region: "here" }, load_balancing_weight: 1, leds_cluster_locality_config: leds }],
  };
}

/** One endpoint of the collection. */
function lbEndpoint(name: string, port: number): object {
  return {
    "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
    name: `${COLLECTION}/${name}`,
    resource: {
      "@type": "type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint",
      endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } },
    },
  };
}
