import { expect, test } from "vitest";
import { createCertificate, shownCommonName } from "./support/certificate.ts";
import { type Envoy, startEnvoy } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet, startHttpLoad } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { apiConfigSource, configSource, type Mode, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type FileContent } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

const TTL_MS = 3_000;

describeWith("envoy", "a ttl on every resource that a real Envoy is served", () => {
  // Most of the time is waiting, so the modes run concurrently.
  test.concurrent.each(named(modes))("%s", async (_name, mode) => {
    await using stack = createStack();
    const ports: Ports = { http: await freePort(), tls: await freePort(), scoped: await freePort() };
    const backend = stack.use(await startHttpBackend("web"));
    const site = stack.use(createSite(files(mode, ports, backend.port, TTL_MS)));
    const server = stack.use(await startXdsServer({ site }));
    const source = sourceOf(mode);
    const layers = [{ name: "live", rtds_layer: { name: "live", rtds_config: source } }];
    const bootstrap = {
      layered_runtime: { layers },
      dynamic_resources: {
        ...(mode.aggregated ? { ads_config: eager(mode) } : {}),
        cds_config: source,
        lds_config: source,
      },
    };
    const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port, bootstrap }));
    await envoy.ready(5_000);
    const everything = { clusters: ["steady", "web"], listeners: ["http", "scoped", "tls"], runtime: "1", ...served };
    await until(
      { says: "everything is served", withinMs: 10_000, everyMs: 50 },
      async () => JSON.stringify(await held(envoy, ports)) === JSON.stringify(everything),
    );

    // With the server running, nothing expires.
    const load = stack.use(startHttpLoad({ port: ports.http }));
    const earlier = await removals(envoy);
    await watchFor(4 * TTL_MS);
    expect({
      held: await held(envoy, ports),
      removals: await removals(envoy),
      failed: (await load.stop()).failed,
      refused: await server.metric("xds_server_nacks_total"),
    }).toEqual({ held: everything, removals: earlier, failed: {}, refused: 0 });
    note("ttl", mode.name, `heartbeats in ${(4 * TTL_MS) / 1000} s`, await heartbeats(server));

    // Without the server, resources with a TTL expire, and Envoy keeps running.
    await server.kill();
    await until({ says: "what has a ttl is gone", withinMs: 3 * TTL_MS, everyMs: 50 }, async () => {
      const { clusters, listeners, runtime } = await held(envoy, ports);
      return clusters.join() === "steady" && listeners.length === 0 && runtime === undefined;
    });
    await watchFor(2 * TTL_MS);
    expect(envoy.process.ended()).toBeUndefined();

    // The server restarts, and all resources return.
    await server.start();
    const { ms } = await until(
      { says: "everything is back", withinMs: 20_000, everyMs: 50 },
      async () => JSON.stringify(await held(envoy, ports)) === JSON.stringify(everything),
    );
    note("ttl", mode.name, "all is back after the server, ms", ms);

    // Without TTLs, nothing expires.
    site.write(files(mode, ports, backend.port, undefined));
    await until({ says: "Envoy has everything without a ttl", withinMs: 10_000, everyMs: 50 }, () => hasSource(server));
    await server.kill();
    await watchFor(2 * TTL_MS);
    expect([await held(envoy, ports), envoy.process.ended()]).toEqual([everything, undefined]);
  });
});

/** An ApiConfigSource that retries at least once a second; the default is up to 30 s. */
function eager(mode: Mode): object {
  const retry = { retry_back_off: { base_interval: "0.2s", max_interval: "1s" } };
  return apiConfigSource(mode, { grpc_services: [{ envoy_grpc: { cluster_name: "xds", retry_policy: retry } }] });
}

function sourceOf(mode: Mode): object {
  return mode.aggregated ? configSource(mode) : { resource_api_version: "V3", api_config_source: eager(mode) };
}

interface Ports {
  readonly http: number;
  readonly tls: number;
  readonly scoped: number;
}

/** The responses while all resources exist. */
const served = { http: 200, greeting: "hello", tls: "ttl.example", scope: 201 };

/** Everything that Envoy holds, as observed from outside. */
async function held(envoy: Envoy, ports: Ports): Promise<Held & typeof served> {
  const clusters = await envoy.dumped("dynamic_active_clusters");
  const listeners = await envoy.dumped("dynamic_listeners");
  const { entries } = (await envoy.admin("/runtime")) as { entries: Readonly<Record<string, { final_value: string }>> };
  const http = await answer(() => fetch(`http://127.0.0.1:${ports.http}/`));
  return {
    clusters: clusters.map(({ cluster: it }) => (it as { name: string }).name).sort(),
    listeners: listeners
      .filter(({ active_state: state }) => state !== undefined)
      .map(({ name }) => String(name))
      .sort(),
    runtime: entries["e2e.alive"]?.final_value,
    http: http?.status ?? 0,
    greeting: http?.headers.get("x-greeting") ?? "",
    tls: (await answer(() => shownCommonName(ports.tls))) ?? "",
    scope: (await answer(() => httpGet({ port: ports.scoped, headers: { "x-scope": "one" } })))?.status ?? 0,
  };
}

interface Held {
  readonly clusters: readonly string[];
  readonly listeners: readonly string[];
  readonly runtime: string | undefined;
}

/** The response; undefined if the connection fails. */
async function answer<T>(ask: () => Promise<T>): Promise<T | undefined> {
  return ask().catch(() => undefined);
}

/** Counters that an expiry raises: removals, and updates that removed something. */
async function removals(envoy: Envoy): Promise<Readonly<Record<string, number>>> {
  const { stats } = (await envoy.admin("/stats?format=json&filter=update_empty|_removed$|layer.live.load_error")) as {
    stats: readonly { name?: string; value?: number }[];
  };
  return Object.fromEntries(stats.map(({ name = "", value = 0 }) => [name, value]));
}

async function heartbeats(server: XdsServer): Promise<number> {
  return server.metric("xds_server_heartbeats_total");
}

/** Whether Envoy has ACKed the files as they are now. Delivery states alone are those of the last response sent. */
async function hasSource(server: XdsServer): Promise<boolean> {
  const { state } = (await server.admin("/api/v1/progress/source?min-nodes=1")) as { state: string };
  return state === "deployed";
}

const LUA = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";
const certificate = createCertificate("ttl.example");

/** A resource of every type that Envoy subscribes to, each in a wrapper with a TTL, and a cluster without one. */
function files(mode: Mode, ports: Ports, backend: number, ttlMs: number | undefined): Record<string, FileContent> {
  const source = sourceOf(mode);
  const withTtl = (list: readonly object[]): object[] => (ttlMs === undefined ? [...list] : list.map(timed));
  const timed = (resource: object): object => ({
    "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
    ttl: `${(ttlMs ?? 0) / 1000}s`,
    resource,
  });
  return {
    "steady.json": [staticCluster("steady", [backend])],
    "timed.json": withTtl([
      cluster({ name: "web", source }),
      endpoints("web", [backend]),
      listener({ name: "http", port: ports.http, routes: "routes", source, filters: [discoveredFilter(mode)] }),
      listener({ name: "tls", port: ports.tls, routes: "routes", source, transportSocket: tlsSocket(mode) }),
      listener({ name: "scoped", port: ports.scoped, routes: "unused", manager: scopedRoutes(mode) }),
      routes("routes", [{ cluster: "web" }]),
      routes("routes-one", [{ cluster: "web", more: { route: undefined, direct_response: { status: 201 } } }]),
      {
        "@type": "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration",
        name: "scope-one",
        route_configuration_name: "routes-one",
        key: { fragments: [{ string_key: "one" }] },
      },
      {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
        name: "server-cert",
        tls_certificate: {
          certificate_chain: { inline_string: certificate.cert },
          private_key: { inline_string: certificate.key },
        },
      },
      {
        "@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
        name: "greeting",
        typed_config: {
          "@type": LUA,
          default_source_code: {
            inline_string: 'function envoy_on_response(handle) handle:headers():add("x-greeting", "hello") end',
          },
        },
      },
      { "@type": "type.googleapis.com/envoy.service.runtime.v3.Runtime", name: "live", layer: { e2e: { alive: 1 } } },
    ]),
  };
}

function tlsSocket(mode: Mode): object {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      common_tls_context: {
        tls_certificate_sds_secret_configs: [{ name: "server-cert", sds_config: sourceOf(mode) }],
      },
    },
  };
}

function discoveredFilter(mode: Mode): object {
  return { name: "greeting", config_discovery: { config_source: sourceOf(mode), type_urls: [LUA] } };
}

/** Scoped routes of an HttpConnectionManager, selected by a header. */
function scopedRoutes(mode: Mode): object {
  const source = sourceOf(mode);
  const fragment = { header_value_extractor: { name: "x-scope", element_separator: ",", index: 0 } };
  return {
    scoped_routes: {
      name: "scopes",
      scope_key_builder: { fragments: [fragment] },
      rds_config_source: source,
      scoped_rds: { scoped_rds_config_source: source },
    },
  };
}
