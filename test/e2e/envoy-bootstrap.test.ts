import { spawnSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { fates, nacks } from "./support/admin.ts";
import { createCertificate } from "./support/certificate.ts";
import { type Envoy, startEnvoyFrom, validateBootstrap } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { describeWith } from "./support/peers.ts";
import { freePorts } from "./support/port.ts";
import { cluster, endpoints, listener, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer, xdsCommand } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const transports = ["file", "rest", "grpc", "delta", "ads", "ads-delta"] as const;
type Transport = (typeof transports)[number];
const ADS = { resource_api_version: "V3", ads: {} };

/** S-CFG-10: Envoy starts from what `xds bootstrap` prints, with each transport. */
describeWith("envoy", "a bootstrap of xds bootstrap", () => {
  describe("is accepted by envoy --mode validate", () => {
    test.each(transports)("%s, as YAML, as JSON, and with everything that can be said", (transport) => {
      using site = createSite({ "cds.yaml": "{}", "lds.yaml": "{}" });
      const source = sourceFlags(transport, site.directory, "xds.example:18000");
      const more = ["--locality", "region/zone/sub-zone", "--metadata", "group=edge", "--admin", "127.0.0.1:0"];
      for (const flags of [source, [...source, "--output", "json"], [...source, ...more]]) {
        expect(validateBootstrap(printed(flags))).toEqual({ code: 0, says: "configuration 'FILE' OK" });
      }
    });

    test.each(transports)("of v2: %s, with nothing that Envoy does not know but as deprecated", (transport) => {
      using site = createSite({ "cds.yaml": "{}", "lds.yaml": "{}" });
      const { code, says } = validateBootstrap(
        printed([...sourceFlags(transport, site.directory, "xds.example:18000"), "--v2"]),
      );
      const lines = says.split("\n").filter((line) => !line.includes("Using deprecated option"));
      expect({ code, lines }).toEqual({ code: 0, lines: ["configuration 'FILE' OK"] });
    });
  });

  const streams = ["grpc", "delta", "ads", "ads-delta"] as const;
  test.each([
    ...streams.map((transport) => [transport, "the aggregated stream", ADS] as const),
    ["grpc", "streams of their own", ownStream("GRPC")] as const,
    ["delta", "streams of their own", ownStream("DELTA_GRPC")] as const,
    ["rest", "polls", ownPoll()] as const,
  ])("S-CFG-10 an Envoy starts, and is served by %s, endpoints and routes by %s", async (transport, _by, source) => {
    await using stack = createStack();
    const [blue, green] = [
      stack.use(await startHttpBackend("blue")),
      stack.use(await startHttpBackend("green")),
    ] as const;
    const [port = 0, adminPort = 0] = await freePorts(2);
    const site = stack.use(
      createSite({
        "web.json": [cluster({ name: "web", source }), listener({ name: "http", port, routes: "routes", source })],
        "routes.json": [routes("routes", [{ cluster: "web" }])],
        "endpoints.json": [endpoints("web", [blue.port])],
      }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const flags = sourceFlags(transport, site.directory, `127.0.0.1:${server.port}`);
    const bootstrap = printed([...flags, "--node", "edge-1", "--admin", `127.0.0.1:${adminPort}`]);
    const envoy = stack.use(await startEnvoyFrom(bootstrap, adminPort));
    note("bootstrap", transport, "ready, ms", await envoy.ready(5_000));
    expect(await httpGet({ port })).toEqual({ status: 200, body: "blue" });
    const accepted = { cds: "acked", eds: "acked", lds: "acked", rds: "acked" };
    // The next poll, which Envoy sends after its delay, ACKs the previous one.
    await until({ says: "all is accepted", withinMs: 5_000 }, async () =>
      isDeepStrictEqual(await fates(server, "edge-1"), accepted),
    );
    site.write({ "endpoints.json": [endpoints("web", [green.port])] });
    const { ms } = await until(
      { says: "the other backend answers", withinMs: 5_000 },
      async () => (await httpGet({ port })).body === "green",
    );
    note("bootstrap", transport, "endpoints changed, ms", ms);
    expect([await nacks(server), await rejected(envoy)]).toEqual([0, 0]);
  });

  test("S-CFG-10 an Envoy starts from files, and follows them when they are replaced", async () => {
    await using stack = createStack();
    const [blue, green] = [
      stack.use(await startHttpBackend("blue")),
      stack.use(await startHttpBackend("green")),
    ] as const;
    const [port = 0, adminPort = 0] = await freePorts(2);
    const manager = { route_config: routes("routes", [{ cluster: "web" }]) };
    const http = listener({ name: "http", port, routes: "routes", manager: withoutType(manager) });
    const site = stack.use(createSite({ "cds.json": [staticCluster("web", [blue.port])], "lds.json": [http] }));
    const flags = [...sourceFlags("file", site.directory, ""), "--format", "json"];
    const bootstrap = printed([...flags, "--admin", `127.0.0.1:${adminPort}`]);
    const envoy = stack.use(await startEnvoyFrom(bootstrap, adminPort));
    note("bootstrap", "file", "ready, ms", await envoy.ready(5_000));
    expect(await httpGet({ port })).toEqual({ status: 200, body: "blue" });
    site.write({ "cds.json": [staticCluster("web", [green.port])] });
    const { ms } = await until(
      { says: "the other backend answers", withinMs: 2_000 },
      async () => (await httpGet({ port })).body === "green",
    );
    note("bootstrap", "file", "cluster changed, ms", ms);
    expect(await rejected(envoy)).toBe(0);
  });
});

/** `xds bootstrap envoy --ca` names the certificate that Envoy accepts: the CA signs those of others, too. */
describeWith("envoy", "a bootstrap of xds bootstrap over TLS", () => {
  test("Envoy accepts a certificate for the host of --server, or for --server-name, and no other of the CA", async () => {
    await using stack = createStack();
    const own = createCertificate("xds.example");
    const site = stack.use(createSite({ "web.json": [cluster({ name: "web" })] }));
    const pems = stack.use(createSite({ "cert.pem": own.cert, "key.pem": own.key }));
    const [cert, key] = ["cert.pem", "key.pem"].map((name) => `${pems.directory}/${name}`) as [string, string];
    const server = stack.use(await startXdsServer({ site, flags: ["--tls-cert", cert, "--tls-key", key] }));
    for (const [flags, isAccepted] of [
      [[], true],
      [["--server-name", "localhost"], true],
      [["--server-name", "other.example"], false],
      [["--server-name", "127.0.0.2"], false],
    ] as const) {
      const [adminPort = 0] = await freePorts(1);
      const asked = [...sourceFlags("ads-delta", "", `127.0.0.1:${server.port}`), "--ca", cert, ...flags];
      const bootstrap = printed([...asked, "--admin", `127.0.0.1:${adminPort}`]);
      await using envoy = await startEnvoyFrom(bootstrap, adminPort);
      const stat = isAccepted ? "control_plane.connected_state" : "cluster.xds_server.ssl.fail_verify_san";
      await until(
        { says: `${flags.join(" ")} ${stat}`, withinMs: 5_000 },
        async () => (await envoy.stats())(stat) >= 1,
      );
      const stats = await envoy.stats();
      expect([flags, stats("control_plane.connected_state")]).toEqual([flags, isAccepted ? 1 : 0]);
    }
  });
});

function sourceFlags(transport: Transport, directory: string, server: string): readonly string[] {
  const where = transport === "file" ? ["--files", directory] : ["--server", server];
  return ["--transport", transport, ...where];
}

/** The output of `xds bootstrap envoy`. */
function printed(flags: readonly string[]): string {
  const [program = "", ...args] = xdsCommand();
  const { status, stdout, stderr } = spawnSync(program, [...args, "bootstrap", "envoy", ...flags], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

/** A config source with a stream of its own, also for endpoints and routes, from the bootstrap's server. */
function ownStream(apiType: "GRPC" | "DELTA_GRPC"): object {
  return {
    resource_api_version: "V3",
    api_config_source: {
      api_type: apiType,
      transport_api_version: "V3",
      set_node_on_first_message_only: true,
      grpc_services: [{ envoy_grpc: { cluster_name: "xds_server" } }],
    },
  };
}

function ownPoll(): object {
  return {
    resource_api_version: "V3",
    api_config_source: {
      api_type: "REST",
      transport_api_version: "V3",
      cluster_names: ["xds_server"],
      refresh_delay: "0.5s",
      request_timeout: "30s",
    },
  };
}

async function rejected(envoy: Envoy): Promise<number> {
  const stats = await envoy.stats();
  return stats("cluster_manager.cds.update_rejected") + stats("listener_manager.lds.update_rejected");
}

/** A RouteConfiguration inside a Listener is a field, not an `Any`. */
function withoutType({ route_config }: { readonly route_config: object }): object {
  const { "@type": _, ...fields } = route_config as Readonly<Record<string, unknown>>;
  return { route_config: fields };
}
