import { Client, credentials } from "@grpc/grpc-js";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { fates } from "./support/admin.ts";
import { startEnvoy } from "./support/envoy.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import { startGrpcClient } from "./support/grpc-client.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsModes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, grpcService, listener, routes } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

interface Load {
  readonly cluster: string;
  readonly localities: readonly {
    readonly region: string;
    readonly zone: string;
    readonly issued: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly reporters: number;
  }[];
}

async function loadsOf(server: XdsServer, name: string): Promise<readonly Load[]> {
  const { items } = (await server.admin("/api/v1/loads")) as { items: readonly Load[] };
  return items.filter(({ cluster: called }) => called === name);
}

/** The sums over the localities of a cluster. */
async function loadOf(server: XdsServer, name: string): Promise<{ issued: number; succeeded: number; failed: number }> {
  const sums = { issued: 0, succeeded: 0, failed: 0 };
  for (const { localities } of await loadsOf(server, name)) {
    for (const { issued, succeeded, failed } of localities) {
      sums.issued += issued;
      sums.succeeded += succeeded;
      sums.failed += failed;
    }
  }
  return sums;
}

async function reporterOf(server: XdsServer): Promise<unknown> {
  const { items } = (await server.admin("/api/v1/load-reporters")) as { items: readonly unknown[] };
  return items[0];
}

/** Bootstrap fields with which Envoy reports its load to its management server. */
const loadStats = {
  cluster_manager: {
    load_stats_config: {
      api_type: "GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
    },
  },
};

interface StatusReply {
  readonly config: readonly {
    readonly node: { readonly id: string };
    readonly genericXdsConfigs: readonly {
      readonly name: string;
      readonly configStatus: string;
      readonly clientStatus: string;
    }[];
  }[];
}

/** Requests client status over gRPC. */
async function clientStatus(port: number, request: object): Promise<StatusReply> {
  const api = createEnvoyApi();
  const { bytes } = api.readMessage("envoy.service.status.v3.ClientStatusRequest", request);
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  try {
    const reply = await new Promise<Buffer>((resolve, reject) => {
      const path = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
      const same = (value: Buffer): Buffer => value;
      client.makeUnaryRequest(path, same, same, Buffer.from(bytes ?? []), (error, value) => {
        if (error === null && value !== undefined) resolve(value);
        else reject(error ?? new Error("no answer"));
      });
    });
    return api.toJson(formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"), reply) as StatusReply;
  } finally {
    client.close();
  }
}

describeWith("envoy", "an Envoy that reports its load", () => {
  test.each(named(adsModes))(
    "2.22 %s: every request that was sent is counted, and the status of the client is told",
    async (_, mode) => {
      await using stack = createStack();
      const web = stack.use(await startHttpBackend("web"));
      const port = await freePort();
      const site = stack.use(
        createSite({
          "web.json": [
            cluster({ name: "web" }),
            endpoints("web", [web.port]),
            listener({ name: "http", port, routes: "routes" }),
            routes("routes", [{ cluster: "web" }]),
          ],
        }),
      );
      const server = stack.use(await startXdsServer({ site, flags: ["--load-reports-interval", "1s"] }));
      const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port, bootstrap: loadStats }));
      await envoy.ready(10_000);
      // Envoy counts from the first interval that starts with the cluster present.
      await until(
        { says: "the cluster is reported", withinMs: 10_000 },
        async () => (await loadsOf(server, "web")).length > 0,
      );
      for (let i = 0; i < 100; i++) expect(await httpGet({ port })).toEqual({ status: 200, body: "web" });
      const { ms } = await until({ says: "the counts arrive", withinMs: 10_000 }, async () => {
        return (await loadOf(server, "web")).succeeded >= 100;
      });
      note("2.22 load reports", mode.name, "all counted after, ms", ms);
      expect(await loadOf(server, "web")).toEqual({ issued: 100, succeeded: 100, failed: 0 });
      expect(await server.metric("xds_server_load_requests_total", { cluster: "web", result: "issued" })).toBe(100);
      const stats = await envoy.stats();
      expect(stats("cluster_manager.load_reporter.errors") + stats("load_reporter.errors")).toBe(0);
      expect(await reporterOf(server)).toMatchObject({
        node: { id: "e2e-1" },
        asked: { clusters: "all", intervalMs: 1_000, endpoints: false },
      });

      await until({ says: "everything is acked", withinMs: 5_000 }, async () => {
        return Object.values(await fates(server, "e2e-1")).every((fate) => fate === "acked");
      });
      const { config } = await clientStatus(server.port, { nodeMatchers: [{ nodeId: { exact: "e2e-1" } }] });
      expect(config.map(({ node }) => node.id)).toEqual(["e2e-1"]);
      const told = config[0]?.genericXdsConfigs.map((one) => [one.name, one.configStatus, one.clientStatus]);
      expect(told).toEqual([
        ["web", "SYNCED", "ACKED"],
        ["web", "SYNCED", "ACKED"],
        ["http", "SYNCED", "ACKED"],
        ["routes", "SYNCED", "ACKED"],
      ]);
    },
  );
});

describeWith("grpc-node", "a gRPC client that reports its load", () => {
  test("G16: reports its calls, as soon as it is asked for all clusters", async () => {
    await using stack = createStack();
    const blue = stack.use(await startGrpcBackend("blue"));
    const [first, table, , ...rest] = grpcService("svc", [blue.port]);
    const reported = cluster({ name: "cluster-svc", more: { lrs_server: { self: {} } } });
    const site = stack.use(createSite({ "svc.json": [first ?? {}, table ?? {}, reported, ...rest] }));
    const flags = ["--validation", "off", "--load-reports-interval", "1s"];
    const server = stack.use(await startXdsServer({ site, flags }));
    const client = stack.use(await startGrpcClient("grpc-node", { xdsPort: server.port }));
    await client.add("svc", { rate: 50 });
    await client.lastIs("svc", "blue", 15_000);
    await until(
      { says: "reports arrive", withinMs: 15_000 },
      async () => (await loadOf(server, "cluster-svc")).succeeded >= 50,
    );
    expect(await client.failures("svc")).toBe(0);
    expect(await reporterOf(server)).toMatchObject({ node: { id: "grpc-1" }, asked: { clusters: "all" } });
  });
});
