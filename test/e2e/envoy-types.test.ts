import { describe, expect, test } from "vitest";
import { deliveries, sourceState } from "./support/admin.ts";
import { type Certificate, createCertificate, shownCommonName } from "./support/certificate.ts";
import { discoveredFilter, headerFilter } from "./support/discovered-filter.ts";
import { type Envoy, startEnvoy, timersFired } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet, startHttpLoad } from "./support/http-load.ts";
import { note, times } from "./support/measure.ts";
import { adsDelta, configSource, type Mode, modes, named } from "./support/mode.ts";
import { describeWith, peerCommand } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes, staticCluster } from "./support/resource.ts";
import { scopedRoutes, scopeOf } from "./support/scopes.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type FileContent, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

describeWith("envoy", "every kind of resource reaches a real Envoy", () => {
  describe.each(named(modes))("%s", (_name, mode) => {
    test("secrets are rotated without a lost handshake, and a key that does not fit is refused (SDS)", async () => {
      await using stack = createStack();
      const port = await freePort();
      const tls = tlsSocket("server-cert", mode);
      const { site, envoy } = await startPair(stack, mode, async (backend) => ({
        "web.json": webFiles(mode, port, backend, { transportSocket: tls }),
        "secrets/server.json": [secret("server-cert", createCertificate("first.example"))],
      }));
      await envoy.ready(2_000);
      const load = stack.use(startHttpLoad({ port, tls: true, keptPerSecond: 20, newPerSecond: 60 }));
      await load.answeredBy("web", 2_000);
      const earlier = await envoy.stats();
      const rotations = times(3, 20);
      let slowest = 0;
      for (let round = 1; round <= rotations; round++) {
        const name = `rotation-${round}.example`;
        site.write({ "secrets/server.json": [secret("server-cert", createCertificate(name))] });
        const { ms } = await until(
          { says: `${name} is shown`, withinMs: 1_500 },
          async () => (await shownCommonName(port)) === name,
        );
        slowest = Math.max(slowest, ms);
      }
      note("2.9 SDS rotation", mode.name, `slowest of ${rotations}, ms`, slowest);
      const mixed = { ...createCertificate("mixed.example"), key: createCertificate("other.example").key };
      site.write({ "secrets/server.json": [secret("server-cert", mixed)] });
      await until(
        { says: "Envoy refuses the pair", withinMs: 3_000 },
        async () => Number((await sdsStats(envoy))["update_rejected"] ?? 0) === 1,
      );
      expect(await shownCommonName(port)).toBe(`rotation-${rotations}.example`);
      site.write({ "secrets/server.json": [secret("server-cert", createCertificate("last.example"))] });
      await until(
        { says: "the last one is shown", withinMs: 1_500 },
        async () => (await shownCommonName(port)) === "last.example",
      );
      const later = await envoy.stats();
      const modified = "listener_manager.listener_modified";
      expect({
        failed: (await load.stop()).failed,
        drained: later(modified) - earlier(modified),
        timers: await timersFired(envoy),
      }).toEqual({
        failed: {},
        drained: 0,
        timers: {},
      });
    });

    test("runtime values come, change and go (RTDS)", async () => {
      await using stack = createStack();
      const layers = [
        { name: "static", static_layer: { e2e: { foo: "a" } } },
        { name: "live", rtds_layer: { name: "live", rtds_config: configSource(mode) } },
        { name: "admin", admin_layer: {} },
      ];
      const { site, envoy } = await startPair(
        stack,
        mode,
        async () => ({ "runtime.json": [runtime({ e2e: { foo: "b", num: 5, pct: { numerator: 50 } } })] }),
        { layered_runtime: { layers } },
      );
      await envoy.ready(2_000);
      expect(await runtimeValues(envoy)).toMatchObject({ "e2e.foo": "b", "e2e.num": "5" });
      site.write({ "runtime.json": [runtime({ e2e: { num: 6.5 } })] });
      const { ms } = await until({ says: "the lower layer shows again", withinMs: 2_000 }, async () => {
        const values = await runtimeValues(envoy);
        return values["e2e.foo"] === "a" && values["e2e.num"] === "6.5";
      });
      note("2.10 RTDS", mode.name, "changed, ms", ms);
      const stats = await envoy.stats();
      expect({ errors: stats("runtime.load_error"), timers: await timersFired(envoy) }).toEqual({
        errors: 0,
        timers: {},
      });
    });

    test("scopes choose route tables, and come and go (SRDS)", async () => {
      await using stack = createStack();
      const port = await freePort();
      const { site, envoy } = await startPair(stack, mode, async (backend) => ({
        "web.json": [
          staticCluster("web", [backend]),
          listener({ name: "http", port, routes: "unused", manager: scopedRoutes(mode, "x-scope") }),
          ...scopedTable("one", 201),
          ...scopedTable("two", 202),
        ],
      }));
      await envoy.ready(2_000);
      const ask = async (scope: string): Promise<number> =>
        (await httpGet({ port, headers: { "x-scope": scope } })).status;
      await until(
        { says: "both scopes are served", withinMs: 2_000 },
        async () => (await ask("one")) === 201 && (await ask("two")) === 202,
      );
      site.write({ "three.json": scopedTable("three", 203) });
      const { ms } = await until(
        { says: "the third scope is served", withinMs: 2_000 },
        async () => (await ask("three")) === 203,
      );
      note("2.14 SRDS", mode.name, "scope added, ms", ms);
      site.write({ "three.json": undefined });
      await until({ says: "the third scope is gone", withinMs: 2_000 }, async () => (await ask("three")) === 404);
      expect([await ask("one"), await ask("two"), await timersFired(envoy)]).toEqual([201, 202, {}]);
    });

    test("a scope keeps its former routes until the cluster of its new ones has endpoints (SRDS)", async () => {
      await using stack = createStack();
      const port = await freePort();
      const source = configSource(mode);
      const scoped = (table: string, ...more: readonly object[]): object[] => [
        { ...scopeOf("one", table), name: "one" },
        routes(table, [{ cluster: table }]),
        cluster({ name: table, source }),
        ...more,
      ];
      let backend = 0;
      const { site, server, envoy } = await startPair(stack, mode, async (web) => {
        backend = web;
        return {
          "web.json": [listener({ name: "http", port, routes: "unused", manager: scopedRoutes(mode, "x-scope") })],
          "one.json": scoped("old", endpoints("old", [web])),
        };
      });
      await envoy.ready(2_000);
      const headers = { "x-scope": "one" };
      await until(
        { says: "the scope is served", withinMs: 2_000 },
        async () => (await httpGet({ port, headers })).status === 200,
      );
      const load = stack.use(startHttpLoad({ port, headers }));
      site.write({ "one.json": scoped("new") });
      await until({ says: "the scope waits", withinMs: 2_000 }, async () =>
        (await deliveries(server)).some(({ shortName, waits }) => shortName === "srds" && waits?.name === "new"),
      );
      await watchFor(300);
      expect(load.take().failed).toEqual({});
      site.write({ "one.json": scoped("new", endpoints("new", [backend])) });
      await until({ says: "the former cluster is gone", withinMs: 5_000 }, async () =>
        (await envoy.dumped("dynamic_active_clusters")).every((each) => !JSON.stringify(each).includes('"old"')),
      );
      expect((await httpGet({ port, headers })).status).toBe(200);
    });

    test("the configuration of a filter changes under traffic (ECDS)", async () => {
      await using stack = createStack();
      const port = await freePort();
      const { site, envoy } = await startPair(stack, mode, async (backend) => ({
        "web.json": webFiles(mode, port, backend, { filters: [discoveredFilter("greeting", mode)] }),
        "filter.json": [headerFilter("greeting", "hello")],
      }));
      await envoy.ready(2_000);
      const greeting = async (): Promise<string | null> =>
        (await fetch(`http://127.0.0.1:${port}/`)).headers.get("x-greeting");
      expect(await greeting()).toBe("hello");
      const load = stack.use(startHttpLoad({ port }));
      const earlier = await envoy.stats();
      site.write({ "filter.json": [headerFilter("greeting", "good evening")] });
      const { ms } = await until(
        { says: "the new header", withinMs: 2_000 },
        async () => (await greeting()) === "good evening",
      );
      note("2.14 ECDS", mode.name, "changed, ms", ms);
      const later = await envoy.stats();
      const modified = "listener_manager.listener_modified";
      expect({
        failed: (await load.stop()).failed,
        drained: later(modified) - earlier(modified),
        timers: await timersFired(envoy),
      }).toEqual({
        failed: {},
        drained: 0,
        timers: {},
      });
    });
  });

  describeWith("route-descriptors", "descriptors that an operator adds", () => {
    test("serve a field that the built-in ones do not know", async () => {
      await using stack = createStack();
      const port = await freePort();
      const backend = stack.use(await startHttpBackend("web"));
      const cookieRoute = { match: { prefix: "/", cookies: [{ name: "team", string_match: { exact: "green" } }] } };
      const table = routes("routes", [
        { cluster: "web", more: { ...cookieRoute, route: undefined, direct_response: { status: 418 } } },
        { cluster: "web" },
      ]);
      const files = { "web.json": [...webFiles(adsDelta, port, backend.port, {}).slice(0, -1), table] };
      const site = stack.use(createSite(files));
      const [descriptors = ""] = peerCommand("route-descriptors") ?? [];
      const without = stack.use(await startXdsServer({ site, expectReady: false }));
      await until({ says: "the field is not known", withinMs: 5_000 }, async () =>
        (await sourceState(without)).text.includes("cookies"),
      );
      const server = stack.use(await startXdsServer({ site, flags: ["--descriptors", descriptors] }));
      const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port }));
      await envoy.ready(2_000);
      expect([
        (await httpGet({ port, headers: { cookie: "team=green" } })).status,
        (await httpGet({ port, headers: { cookie: "team=red" } })).status,
      ]).toEqual([418, 200]);
    });
  });
});

interface Pair {
  readonly site: Site;
  readonly server: XdsServer;
  readonly envoy: Envoy;
}

/** Starts a backend "web", a site for its port, a server and an Envoy. */
async function startPair(
  stack: Stack,
  mode: Mode,
  files: (backendPort: number) => Promise<Record<string, FileContent>>,
  bootstrap: object = {},
): Promise<Pair> {
  const backend = stack.use(await startHttpBackend("web"));
  const site = stack.use(createSite(await files(backend.port)));
  const server = stack.use(await startXdsServer({ site }));
  const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port, bootstrap }));
  return { site, server, envoy };
}

function webFiles(
  mode: Mode,
  port: number,
  backend: number,
  more: { transportSocket?: object; filters?: readonly object[] },
): object[] {
  const source = configSource(mode);
  return [
    cluster({ name: "web", source }),
    endpoints("web", [backend]),
    listener({ name: "http", port, routes: "routes", source, ...more }),
    routes("routes", [{ cluster: "web" }]),
  ];
}

function secret(name: string, certificate: Certificate): object {
  return {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
    name,
    tls_certificate: {
      certificate_chain: { inline_string: certificate.cert },
      private_key: { inline_string: certificate.key },
    },
  };
}

function tlsSocket(secretName: string, mode: Mode): object {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      common_tls_context: {
        tls_certificate_sds_secret_configs: [{ name: secretName, sds_config: configSource(mode) }],
      },
    },
  };
}

/** The counters of the secret's subscription, by the last part of their names. */
async function sdsStats(envoy: Envoy): Promise<Readonly<Record<string, number>>> {
  const { stats } = (await envoy.admin("/stats?format=json&filter=sds.server-cert")) as {
    stats: readonly { name?: string; value?: number }[];
  };
  return Object.fromEntries(stats.map(({ name = "", value = 0 }) => [name.slice(name.lastIndexOf(".") + 1), value]));
}

function runtime(layer: object): object {
  return { "@type": "type.googleapis.com/envoy.service.runtime.v3.Runtime", name: "live", layer };
}

async function runtimeValues(envoy: Envoy): Promise<Readonly<Record<string, string>>> {
  const { entries } = (await envoy.admin("/runtime")) as { entries: Readonly<Record<string, { final_value: string }>> };
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, entry.final_value]));
}

/** A scope and its route table, which responds with a status of its own. */
function scopedTable(name: string, status: number): object[] {
  const answer = { route: undefined, direct_response: { status } };
  return [scopeOf(name, `routes-${name}`), routes(`routes-${name}`, [{ cluster: "web", more: answer }])];
}
