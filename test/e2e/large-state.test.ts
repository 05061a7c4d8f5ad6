import { describe, expect, test } from "vitest";
import { startEnvoy, timersFired } from "./support/envoy.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import { startGrpcClient } from "./support/grpc-client.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith, grpcClients, peerCommand } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { apiListener, cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";

const GRPC_LIMIT = 4 * 1024 * 1024;

/** A ClusterLoadAssignment of about 100 KB. */
function largeEndpoints(name: string, port: number): object {
  const metadata = { filter_metadata: { padding: { text: "x".repeat(100_000) } } };
  const socket = { socket_address: { address: "127.0.0.1", port_value: port } };
  return {
    ...endpoints(name, []),
    endpoints: [
      {
        locality: { region: "here" },
        load_balancing_weight: 1,
        lb_endpoints: [{ endpoint: { address: socket }, metadata }],
      },
    ],
  };
}

const namesOf = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describeWith("envoy", "an Envoy", () => {
  test("takes 20 MB of endpoints in several responses, and nothing warms for longer than it has to", async () => {
    await using stack = createStack();
    const web = stack.use(await startHttpBackend("blue"));
    const port = await freePort();
    const names = namesOf("large", 200);
    const site = stack.use(
      createSite({
        "clusters.json": names.map((name) => cluster({ name })),
        "endpoints.json": names.map((name) => largeEndpoints(name, web.port)),
        "web.json": [
          listener({ name: "http", port, routes: "routes" }),
          routes("routes", [{ cluster: names.at(-1) ?? "" }]),
        ],
      }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port }));
    note("2.18 20 MB of endpoints", adsDelta.name, "ready, ms", await envoy.ready(14_000));
    const stats = await envoy.stats();
    const responses = (type: string): Promise<number> =>
      server.metric("xds_server_responses_total", { type, variant: "delta" });
    expect({
      clusters: stats("cluster_manager.active_clusters"),
      warming: stats("cluster_manager.warming_clusters"),
      // All in one response, because Envoy continues with listeners after the first.
      clusterResponses: await responses("cds"),
      endpointResponses: await responses("eds"),
      answer: (await httpGet({ port })).body,
      timers: await timersFired(envoy),
    }).toEqual({
      clusters: 201,
      warming: 0,
      clusterResponses: 1,
      endpointResponses: 6,
      answer: "blue",
      timers: {},
    });
  });
});

describe("gRPC clients of every language", () => {
  const present = grpcClients.filter((name) => peerCommand(name) !== undefined);
  for (const name of grpcClients.filter((one) => !present.includes(one)))
    test.skip(`${name} (skipped: it is not installed)`, () => {});

  test.each(present)("%s takes endpoints that are more than it takes in one response", async (name) => {
    await using stack = createStack();
    const blue = stack.use(await startGrpcBackend("blue"));
    const names = namesOf("large", 60);
    const weighted = { clusters: names.map((one) => ({ name: one, weight: 1 })) };
    const table = routes("routes", [], {
      virtual_hosts: [
        { name: "all", domains: ["*"], routes: [{ match: { prefix: "" }, route: { weighted_clusters: weighted } }] },
      ],
    });
    const assignments = names.map((one) => largeEndpoints(one, blue.port));
    expect(JSON.stringify(assignments).length).toBeGreaterThan(GRPC_LIMIT);
    const site = stack.use(
      createSite({
        "svc.json": [apiListener("svc", "routes"), table, ...names.map((one) => cluster({ name: one }))],
        "endpoints.json": assignments,
      }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const client = stack.use(await startGrpcClient(name, { xdsPort: server.port }));
    await client.add("svc");
    note("G13 6 MB of endpoints", name, "ms", await client.lastIs("svc", "blue", 15_000));
    const [lost, failures] = [await server.metric("xds_server_streams_total"), await client.failures("svc")];
    expect({ lost, failures }).toEqual({ lost: 0, failures: 0 });
  });
});
