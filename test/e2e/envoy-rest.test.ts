import { describe, expect, test } from "vitest";
import { deliveries, fates } from "./support/admin.ts";
import { type Certificate, createCertificate, shownCommonName } from "./support/certificate.ts";
import { type Envoy, startEnvoy, timersFired } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet, startHttpLoad } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type FileContent, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

const PROTOCOLS = ["HTTP/1.1", "HTTP/2"] as const;

describeWith("envoy", "an Envoy that polls over REST", () => {
  describe.each(PROTOCOLS)("on %s", (protocol) => {
    test("gets listeners, routes, clusters, endpoints and secrets, and follows every change of them", async () => {
      await using stack = createStack();
      const [one, two] = [stack.use(await startHttpBackend("one")), stack.use(await startHttpBackend("two"))];
      const port = await freePort();
      const tls = tlsSocket("server-cert");
      const web = (backend: number): FileContent => [
        cluster({ name: "web", source }),
        endpoints("web", [backend]),
        listener({ name: "http", port, routes: "table", source, transportSocket: tls }),
        routes("table", [{ cluster: "web" }]),
      ];
      const files = { "web.json": web(one.port), "secrets.json": [secret(createCertificate("first.example"))] };
      const { site, server, envoy } = await startPair(stack, protocol, files);
      note("2.15 REST", protocol, "ready, ms", await envoy.ready(5_000));
      const load = stack.use(startHttpLoad({ port, tls: true, keptPerSecond: 20, newPerSecond: 5 }));
      await load.answeredBy("one", 5_000);
      await until({ says: "every type is acknowledged", withinMs: 5_000 }, async () => {
        const states = Object.values(await fates(server, "e2e-1"));
        return states.length === 5 && states.every((state) => state === "acked");
      });

      site.write({ "web.json": web(two.port) });
      note("2.15 REST", protocol, "endpoints changed, ms", await load.answeredBy("two", 3_000));
      site.write({ "secrets.json": [secret(createCertificate("second.example"))] });
      await until({ says: "the second certificate is shown", withinMs: 3_000 }, async () => {
        return (await shownCommonName(port)) === "second.example";
      });
      site.write({ "more.json": [cluster({ name: "more", source }), endpoints("more", [one.port])] });
      await until({ says: "the new cluster is warm", withinMs: 3_000 }, async () => {
        return (await envoy.stats())("cluster_manager.active_clusters") === 3;
      });
      site.write({
        "web.json": [
          ...(web(two.port) as readonly object[]).slice(0, 3),
          routes("table", [{ prefix: "/more", cluster: "more" }, { cluster: "web" }]),
        ],
      });
      await until({ says: "the new route is taken", withinMs: 3_000 }, async () => {
        return (await httpGet({ port, path: "/more", tls: true })).body === "one";
      });
      expect({
        failed: (await load.stop()).failed,
        timers: await timersFired(envoy),
        refused: await refusals(envoy),
      }).toEqual({ failed: {}, timers: {}, refused: {} });
    });

    test("is held while nothing changes, and counts no failure", async () => {
      await using stack = createStack();
      const { server, envoy } = await startPair(stack, protocol, { "c.json": [staticCluster("a", [1])] });
      await envoy.ready(5_000);
      await until({ says: "the clusters are acknowledged", withinMs: 5_000 }, async () => {
        return (await fates(server, "e2e-1"))["cds"] === "acked";
      });
      const before = await envoy.stats();
      await watchFor(9_000);
      const after = await envoy.stats();
      const grown = (name: string): number =>
        after(`cluster_manager.cds.${name}`) - before(`cluster_manager.cds.${name}`);
      // Each poll is held for 4 of the 5 seconds of Envoy's timeout.
      expect(grown("update_attempt")).toBeGreaterThanOrEqual(1);
      expect(grown("update_attempt")).toBeLessThanOrEqual(4);
      expect([grown("update_failure"), grown("update_success"), grown("update_rejected")]).toEqual([0, 0, 0]);
    });

    test("keeps what it has when it refuses an update, is not asked to spin, and is shown as suspected", async () => {
      await using stack = createStack();
      const web = stack.use(await startHttpBackend("web"));
      const port = await freePort();
      const good = listener({ name: "http", port, routes: "table", source });
      const files = {
        "listener.json": [good],
        "web.json": [staticCluster("web", [web.port]), routes("table", [{ cluster: "web" }])],
      };
      const { site, server, envoy } = await startPair(stack, protocol, files);
      await envoy.ready(5_000);
      await until({ says: "requests pass", withinMs: 5_000 }, async () => (await httpGet({ port })).body === "web");
      // Valid for the server, but Envoy rejects two listeners with the same address.
      const bad = listener({ name: "twin", port, routes: "table", source });
      site.write({ "listener.json": [good, bad] });
      await until({ says: "the refusal is suspected", withinMs: 10_000 }, async () => {
        const rows = await deliveries(server);
        return rows.some(({ shortName, state, reason }) => {
          return shortName === "lds" && state === "nacked" && reason?.startsWith("suspected: ") === true;
        });
      });
      expect(await server.metric("xds_server_polls_at_old_version_total", { type: "lds" })).toBeGreaterThan(0);
      const rejected = (await envoy.stats())("listener_manager.lds.update_rejected");
      await watchFor(3_000);
      // The server resends the same content once per hold time, not on every poll.
      expect((await envoy.stats())("listener_manager.lds.update_rejected") - rejected).toBeLessThanOrEqual(2);
      expect((await httpGet({ port })).body).toBe("web");
      site.write({ "listener.json": [good] });
      await until({ says: "it has what there is", withinMs: 10_000 }, async () => {
        const [row] = (await deliveries(server)).filter(({ shortName }) => shortName === "lds");
        return row?.state === "acked";
      });
    });
  });

  test("goes on with what it has while the server is away, and catches up", async () => {
    await using stack = createStack();
    const [one, two] = [stack.use(await startHttpBackend("one")), stack.use(await startHttpBackend("two"))];
    const port = await freePort();
    const web = (backend: number): FileContent => [
      staticCluster("web", [backend]),
      listener({ name: "http", port, routes: "table", source }),
      routes("table", [{ cluster: "web" }]),
    ];
    const { site, server, envoy } = await startPair(stack, "HTTP/1.1", { "web.json": web(one.port) });
    await envoy.ready(5_000);
    const load = stack.use(startHttpLoad({ port, keptPerSecond: 50, newPerSecond: 10 }));
    await load.answeredBy("one", 5_000);
    await server.kill();
    site.write({ "web.json": web(two.port) });
    await load.answeredBy("one", 3_000);
    await server.start();
    await load.answeredBy("two", 10_000);
    expect((await load.stop()).failed).toEqual({});
  });
});

/** A config source for REST polling of each type. */
const source = {
  resource_api_version: "V3",
  initial_fetch_timeout: "10s",
  api_config_source: {
    api_type: "REST",
    transport_api_version: "V3",
    cluster_names: ["xds"],
    refresh_delay: "0.2s",
    request_timeout: "5s",
  },
};

async function startPair(
  stack: Stack,
  protocol: (typeof PROTOCOLS)[number],
  files: Readonly<Record<string, FileContent>>,
): Promise<{ readonly site: Site; readonly server: XdsServer; readonly envoy: Envoy }> {
  const site = stack.use(createSite(files));
  const server = stack.use(await startXdsServer({ site }));
  const bootstrap = {
    dynamic_resources: { cds_config: source, lds_config: source },
    static_resources: { clusters: [xdsCluster(protocol, server.port)] },
  };
  const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port, bootstrap }));
  return { site, server, envoy };
}

function xdsCluster(protocol: (typeof PROTOCOLS)[number], port: number): object {
  const options = protocol === "HTTP/2" ? { http2_protocol_options: {} } : { http_protocol_options: {} };
  return {
    ...staticCluster("xds", [port]),
    "@type": undefined,
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config: options,
      },
    },
  };
}

function tlsSocket(name: string): object {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      common_tls_context: { tls_certificate_sds_secret_configs: [{ name, sds_config: source }] },
    },
  };
}

function secret({ cert, key }: Certificate): object {
  return {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
    name: "server-cert",
    tls_certificate: { certificate_chain: { inline_string: cert }, private_key: { inline_string: key } },
  };
}

/** Every `update_rejected` counter that is not 0. */
async function refusals(envoy: Envoy): Promise<Readonly<Record<string, number>>> {
  const { stats } = (await envoy.admin("/stats?format=json&filter=update_rejected")) as {
    stats: readonly { name?: string; value?: number }[];
  };
  return Object.fromEntries(
    stats.flatMap(({ name, value = 0 }) => (name === undefined || value === 0 ? [] : [[name, value]])),
  );
}
