import { afterAll, beforeAll, expect, test } from "vitest";
import { fates, nacks, refusals } from "./support/admin.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import { type GrpcClient, losesByItself, startGrpcClient } from "./support/grpc-client.ts";
import type { Backend } from "./support/http-backend.ts";
import { note, times } from "./support/measure.ts";
import { describeWith, type GrpcV2ClientName, grpcV2Clients } from "./support/peers.ts";
import { grpcService, refusedCluster, serviceOn } from "./support/resource.ts";
import { nodesOf, startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

// For a cold JVM beside other processes on two cores.
const FIRST_CALL_MS = 15_000;

// Each client's message when it NACKs a Cluster.
const reasons: Readonly<Record<GrpcV2ClientName, RegExp>> = {
  "grpc-python-v2": /cluster-svc-b: .*DiscoveryType is not valid/,
  "grpc-go-v2": /"cluster-svc-b": unsupported cluster type/,
  "grpc-java-v2": /Cluster cluster-svc-b: unsupported built-in discovery type: STATIC/,
};

for (const name of grpcV2Clients) describeWith(name, `${name}, from a directory of v3 resources`, () => story(name));

/** One v2 client, and one server whose directory has v3 resources. */
function story(name: GrpcV2ClientName): void {
  const stack = createStack();
  let blue: Backend;
  let green: Backend;
  let site: Site;
  let server: XdsServer;
  let client: GrpcClient;

  beforeAll(async () => {
    blue = stack.use(await startGrpcBackend("blue"));
    green = stack.use(await startGrpcBackend("green"));
    site = stack.use(
      createSite({ "svc-a.json": grpcService("svc-a", [blue.port]), "svc-b.json": grpcService("svc-b", [green.port]) }),
    );
    server = stack.use(await startXdsServer({ site }));
    client = stack.use(await startGrpcClient(name, { xdsPort: server.port, nodeId: name }));
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const lost = async (target: string): Promise<object> => {
    const { failed } = await client.counts(target);
    const counted = failed.filter(({ text }) => !losesByItself(name, text));
    return Object.fromEntries(counted.map(({ code, text, count }) => [`${code} ${text}`, count]));
  };

  test("V1: reaches two targets, over v2 and nothing else", async () => {
    await client.add("svc-a", { rate: 50, deadlineMs: FIRST_CALL_MS });
    await client.add("svc-b", { rate: 50, deadlineMs: FIRST_CALL_MS });
    const a = await client.lastIs("svc-a", "blue", FIRST_CALL_MS);
    const b = await client.lastIs("svc-b", "green", FIRST_CALL_MS);
    note("V1 first call", name, "ms", Math.max(a, b));
    const { items } = await nodesOf(server);
    expect({
      lost: [await lost("svc-a"), await lost("svc-b")],
      speaks: [...new Set(items.flatMap(({ streams }) => streams.map((one) => `${one.apiVersion} ${one.variant}`)))],
      types: items.flatMap(({ types }) => types.map(({ type }) => type)).sort(),
    }).toEqual({
      lost: [{}, {}],
      speaks: ["v2 sotw"],
      types: ["Cluster", "ClusterLoadAssignment", "Listener", "RouteConfiguration"].map(
        (message) => `type.googleapis.com/envoy.api.v2.${message}`,
      ),
    });
  });

  test("V2: follows endpoints that move, without a failed call", async () => {
    site.write({ "svc-a.json": grpcService("svc-a", [green.port]) });
    note("V2 endpoints moved", name, "ms", await client.lastIs("svc-a", "green", 2_000));
    site.write({ "svc-a.json": grpcService("svc-a", [blue.port]) });
    await client.lastIs("svc-a", "blue", 2_000);
    expect(await lost("svc-a")).toEqual({});
  });

  test("V3: loses no call when one cluster is swapped for another in one edit", async () => {
    const rounds = times(4, 50);
    site.write({ "swap.json": serviceOn("svc-swap", "swap-first", blue.port) });
    await client.add("svc-swap", { rate: 200 });
    await client.lastIs("svc-swap", "blue", FIRST_CALL_MS);
    for (let round = 0; round < rounds; round++) {
      const backend = round % 2 === 0 ? green : blue;
      site.write({ "swap.json": serviceOn("svc-swap", `swap-${round}`, backend.port) });
      await client.lastIs("svc-swap", backend.name, 3_000);
    }
    const { ok } = await client.counts("svc-swap");
    const answered = Object.values(ok).reduce((sum, count) => sum + count, 0);
    const failed = JSON.stringify((await client.counts("svc-swap")).failed);
    note("V3 swaps", name, "swaps: calls, failed", `${rounds}: ${answered}, ${failed}`);
    expect(await lost("svc-swap")).toEqual({});
    await client.remove("svc-swap");
    site.write({ "swap.json": undefined });
  });

  test("V4: says why it refuses a cluster, once, and takes the fix", async () => {
    const before = await nacks(server);
    const [api, table, , assignment] = grpcService("svc-b", [green.port]) as [object, object, object, object];
    site.write({ "svc-b.json": [api, table, refusedCluster("cluster-svc-b"), assignment] });
    await until(
      { says: "the server knows of the refusal", withinMs: 3_000 },
      async () => (await nacks(server)) > before,
    );
    await watchFor(times(500, 3_000));
    const { "envoy.api.v2.Cluster": reason = "" } = await refusals(server, name);
    note("V4 refusal", name, "calls failed, reason", `${await client.failures("svc-b")}, ${reason}`);
    expect({ nacks: (await nacks(server)) - before, lost: await lost("svc-b"), reason }).toEqual({
      nacks: 1,
      lost: {},
      reason: expect.stringMatching(reasons[name]),
    });
    site.write({ "svc-b.json": grpcService("svc-b", [blue.port]) });
    await client.lastIs("svc-b", "blue", 3_000);
    await until({ says: "nothing is refused any more", withinMs: 3_000 }, async () =>
      Object.values(await fates(server, name)).every((state) => state === "acked"),
    );
  });

  test("V5: loses no call while the server is killed and comes back, and then hears of changes", async () => {
    const before = [await lost("svc-a"), await lost("svc-b")];
    await server.kill();
    await watchFor(times(1_000, 3_000));
    await server.start();
    await watchFor(1_500);
    const startedAt = performance.now();
    site.write({ "svc-a.json": grpcService("svc-a", [green.port]) });
    await client.lastIs("svc-a", "green", 10_000);
    note("V5 first change after a restart", name, "ms", Math.round(performance.now() - startedAt));
    expect([await lost("svc-a"), await lost("svc-b")]).toEqual(before);
  });
}
