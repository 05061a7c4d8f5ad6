import { expect, test } from "vitest";
import { type Envoy, startEnvoy, timersFired } from "./support/envoy.ts";
import { type Backend, startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type FileContent, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const ADS = { resource_api_version: "V3", ads: {} };

/** What Envoy asks for only when a request needs it; it does so in delta alone. */
describeWith("envoy", "on demand", () => {
  test("virtual hosts come with the first request for them, and unknown ones are refused fast (VHDS)", async () => {
    await using stack = createStack();
    const port = await freePort();
    const { site, envoy, web } = await startPair(stack, (backend) => ({
      "web.json": [
        cluster({ name: "web" }),
        endpoints("web", [backend.port]),
        listener({ name: "http", port, routes: "routes", filters: [onDemandFilter({})] }),
        { ...routes("routes", []), virtual_hosts: [], vhds: { config_source: ADS } },
      ],
      "hosts.json": [virtualHost("routes", "first.example"), virtualHost("routes", "second.example")],
    }));
    await envoy.ready(3_000);
    const ask = async (host: string): Promise<{ status: number; body: string; ms: number }> => {
      const startedAt = performance.now();
      const answer = await httpGet({ port, headers: { host } });
      return { ...answer, ms: performance.now() - startedAt };
    };
    const known = await ask("first.example");
    note("2.12 VHDS", adsDelta.name, "first request, ms", Math.round(known.ms));
    expect([known.status, known.body]).toEqual([200, web.name]);
    const unknown = [await ask("unknown.example"), await ask("unknown.example")];
    note("2.12 VHDS", adsDelta.name, "unknown host, ms", Math.round(Math.max(...unknown.map(({ ms }) => ms))));
    expect(unknown.map(({ status, ms }) => [status, ms < 1_000])).toEqual([
      [404, true],
      [404, true],
    ]);
    site.write({ "hosts.json": [virtualHost("routes", "first.example", { direct_response: { status: 418 } })] });
    await until(
      { says: "the changed host answers", withinMs: 2_000 },
      async () => (await ask("first.example")).status === 418,
    );
    site.write({ "late.json": [virtualHost("routes", "unknown.example")] });
    await until(
      { says: "the late host answers", withinMs: 2_000 },
      async () => (await ask("unknown.example")).status === 200,
    );
    expect(await timersFired(envoy)).toEqual({});
  });

  test("clusters are found by the request that names them, and unknown ones are refused fast (ODCDS)", async () => {
    await using stack = createStack();
    const port = await freePort();
    const byHeader = { route: { cluster_header: "x-cluster" } };
    const filter = onDemandFilter({ odcds: { source: ADS, timeout: "5s" } });
    const { site, envoy, web, server } = await startPair(stack, (backend) => ({
      "web.json": [
        cluster({ name: "web" }),
        endpoints("web", [backend.port]),
        listener({ name: "http", port, routes: "routes", filters: [filter] }),
        routes("routes", [{ cluster: "web", more: byHeader }]),
      ],
    }));
    await envoy.ready(3_000);
    const ask = async (name: string): Promise<{ status: number; ms: number }> => {
      const startedAt = performance.now();
      const { status } = await httpGet({ port, headers: { "x-cluster": name } });
      return { status, ms: performance.now() - startedAt };
    };
    const unknown = await ask("late");
    note("2.13 ODCDS", adsDelta.name, "unknown cluster, ms", Math.round(unknown.ms));
    expect([(await ask("web")).status, unknown.status, unknown.ms < 1_000]).toEqual([200, 503, true]);
    site.write({ "late.json": [cluster({ name: "late" }), endpoints("late", [web.port])] });
    await until({ says: "the late cluster serves", withinMs: 2_000 }, async () => (await ask("late")).status === 200);
    const earlier = await envoy.stats();
    await server.kill();
    await server.start();
    await until(
      { says: "Envoy is back", withinMs: 15_000 },
      async () => (await envoy.stats())("control_plane.connected_state") === 1,
    );
    const later = await envoy.stats();
    const changed = ["cluster_added", "cluster_modified", "cluster_removed"].map((name) => `cluster_manager.${name}`);
    expect({
      statuses: [(await ask("web")).status, (await ask("late")).status],
      deltas: changed.map((name) => later(name) - earlier(name)),
      timers: await timersFired(envoy),
    }).toEqual({ statuses: [200, 200], deltas: [0, 0, 0], timers: {} });
  });
});

async function startPair(
  stack: Stack,
  files: (backend: Backend) => Record<string, FileContent>,
): Promise<{ readonly site: Site; readonly server: XdsServer; readonly envoy: Envoy; readonly web: Backend }> {
  const web = stack.use(await startHttpBackend("web"));
  const site = stack.use(createSite(files(web)));
  const server = stack.use(await startXdsServer({ site }));
  const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port }));
  return { site, server, envoy, web };
}

function onDemandFilter(settings: object): object {
  const type = "type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand";
  return { name: "envoy.filters.http.on_demand", typed_config: { "@type": type, ...settings } };
}

/** A virtual host of a route table; its name starts with the table's, or Envoy ignores it. */
function virtualHost(table: string, host: string, more: object = { route: { cluster: "web" } }): object {
  return {
    "@type": "type.googleapis.com/envoy.config.route.v3.VirtualHost",
    name: `${table}/${host}`,
    domains: [host],
    routes: [{ match: { prefix: "/" }, ...more }],
  };
}
