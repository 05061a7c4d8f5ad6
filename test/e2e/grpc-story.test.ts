import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nacks, subscriptions } from "./support/admin.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import { GO_RACE, type GrpcClient, startGrpcClient } from "./support/grpc-client.ts";
import type { Backend } from "./support/http-backend.ts";
import { note, times } from "./support/measure.ts";
import { describeWith, type GrpcClientName, grpcClients } from "./support/peers.ts";
import { grpcService, refusedCluster, serviceOn } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

// grpc-js-xds 1.14.1 does not subscribe again after a Listener or Cluster was deleted and added.
const recoversFromDeletion = (name: GrpcClientName): boolean => name !== "grpc-node";

// For a cold JVM beside other processes on two cores.
const FIRST_CALL_MS = 15_000;

for (const name of grpcClients) describeWith(name, name, () => story(name));

/** One client and one server, through every kind of configuration change. */
function story(name: GrpcClientName): void {
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
      createSite({
        "svc-a.json": grpcService("svc-a", [blue.port]),
        "svc-b.json": grpcService("svc-b", [green.port]),
      }),
    );
    server = stack.use(await startXdsServer({ site, flags: ["--validation", "off"] }));
    client = stack.use(await startGrpcClient(name, { xdsPort: server.port }));
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const failed = async (target: string): Promise<object> => {
    const { failed: list } = await client.counts(target);
    return Object.fromEntries(list.map(({ code, text, count }) => [`${code} ${text}`, count]));
  };
  const failedBesideRace = async (target: string): Promise<object> =>
    Object.fromEntries(Object.entries(await failed(target)).filter(([text]) => !text.includes(GO_RACE)));

  test("G1: reaches two targets", async () => {
    await client.add("svc-a", { rate: 100, deadlineMs: FIRST_CALL_MS });
    await client.add("svc-b", { rate: 100, deadlineMs: FIRST_CALL_MS });
    const a = await client.lastIs("svc-a", "blue", FIRST_CALL_MS);
    const b = await client.lastIs("svc-b", "green", FIRST_CALL_MS);
    note("G1 first call", name, "ms", Math.max(a, b));
    expect([await failed("svc-a"), await failed("svc-b")]).toEqual([{}, {}]);
  });

  test("G2: follows endpoints that move, without a failed call", async () => {
    site.write({ "svc-a.json": grpcService("svc-a", [green.port]) });
    note("G2 endpoints moved", name, "ms", await client.lastIs("svc-a", "green", 2_000));
    site.write({ "svc-a.json": grpcService("svc-a", [blue.port]) });
    await client.lastIs("svc-a", "blue", 2_000);
    expect(await failed("svc-a")).toEqual({});
  });

  test("G3: moves to a new cluster and back in three edits, without a failed call", async () => {
    const first = grpcService("svc-a", [blue.port]);
    for (let round = 0; round < times(2, 20); round++) {
      const [, table, ...rest] = serviceOn("svc-a", `new-${round}`, green.port);
      site.write({ "new.json": rest });
      site.write({ "svc-a.json": [...first.filter((each) => each !== first[1]), table ?? {}] });
      note("G3 moved to a new cluster", name, "ms", await client.lastIs("svc-a", "green", 3_000));
      site.write({ "svc-a.json": first });
      await client.lastIs("svc-a", "blue", 3_000);
      site.write({ "new.json": undefined });
    }
    expect(await failedBesideRace("svc-a")).toEqual({});
  });

  test("G3: loses no call when one cluster is swapped for another in one edit", async () => {
    const rounds = times(2, 50);
    site.write({ "swap.json": serviceOn("svc-swap", "swap-first", blue.port) });
    await client.add("svc-swap", { rate: 200 });
    await client.lastIs("svc-swap", "blue", FIRST_CALL_MS);
    for (let round = 0; round < rounds; round++) {
      const backend = round % 2 === 0 ? green : blue;
      site.write({ "swap.json": serviceOn("svc-swap", `swap-${round}`, backend.port) });
      await client.lastIs("svc-swap", backend.name, 3_000);
    }
    const { ok, failed: failures } = await client.counts("svc-swap");
    const lostInRace = failures.filter(({ text }) => text.includes(GO_RACE)).reduce((sum, { count }) => sum + count, 0);
    const lost = await failedBesideRace("svc-swap");
    const answered = Object.values(ok).reduce((sum, count) => sum + count, 0);
    note(
      "G3 swaps",
      name,
      "swaps: calls, lost, lost in grpc-go's race",
      [`${rounds}: ${answered}`, JSON.stringify(lost), lostInRace].join(", "),
    );
    expect(lost).toEqual({});
    await client.remove("svc-swap");
    site.write({ "swap.json": undefined });
  });

  test("G4: keeps its cluster when the new one is refused, says so once, and takes the fix", async () => {
    const settled = { lds: 2, rds: 2, cds: 2, eds: 2 };
    await until({ says: "the client has let go of what it no longer uses", withinMs: 5_000 }, async () =>
      isDeepStrictEqual(await subscriptions(server, "grpc-1"), settled),
    );
    const before = await client.failures("svc-b");
    const refusals = await nacks(server);
    const [api, table, , assignment] = grpcService("svc-b", [green.port]) as [object, object, object, object];
    site.write({ "svc-b.json": [api, table, refusedCluster("cluster-svc-b"), assignment] });
    await until(
      { says: "the server knows of the refusal", withinMs: 3_000 },
      async () => (await nacks(server)) > refusals,
    );
    await watchFor(times(1_000, 3_000));
    expect({ nacks: (await nacks(server)) - refusals, failures: (await client.failures("svc-b")) - before }).toEqual({
      nacks: 1,
      failures: 0,
    });
    site.write({ "svc-b.json": grpcService("svc-b", [blue.port]) });
    await client.lastIs("svc-b", "blue", 2_000);
    site.write({ "svc-b.json": grpcService("svc-b", [green.port]) });
    await client.lastIs("svc-b", "green", 2_000);
    expect((await client.failures("svc-b")) - before).toBe(0);
  });

  test("G5, G6: one refused cluster hurts neither its neighbours nor what is asked for after it", async () => {
    const [api, table, , assignment] = grpcService("refused", [green.port]) as [object, object, object, object];
    site.write({
      "refused.json": [api, table, refusedCluster("cluster-refused"), assignment],
      "svc-c.json": grpcService("svc-c", [green.port]),
    });
    const refusals = await nacks(server);
    await client.add("refused", { rate: 20, deadlineMs: 1_000 });
    await until(
      { says: "the server knows of the refusal", withinMs: 3_000 },
      async () => (await nacks(server)) > refusals,
    );
    await client.add("svc-c");
    note("G6 asked for after a NACK", name, "ms", await client.lastIs("svc-c", "green", 2_000));
    await until(
      { says: "calls to the refused one fail", withinMs: 3_000 },
      async () => (await client.failures("refused")) > 0,
    );
    expect([(await client.counts("refused")).ok, await failed("svc-c")]).toEqual([{}, {}]);
    site.write({ "refused.json": grpcService("refused", [green.port]) });
    await client.lastIs("refused", "green", 3_000);
    await client.remove("refused");
    await client.remove("svc-c");
  });

  test("G7: fails at once when its listener or cluster is deleted, and recovers when it is back", async () => {
    const listenerOf = (service: string): object[] => grpcService(service, [blue.port]).slice(0, 1);
    const restOf = (service: string): object[] => grpcService(service, [blue.port]).slice(1);
    site.write({ "gone-l.json": listenerOf("gone"), "gone.json": restOf("gone") });
    await client.add("gone", { rate: 50, deadlineMs: 2_000 });
    await client.lastIs("gone", "blue", 3_000);
    site.write({ "gone-l.json": undefined });
    note("G7 listener deleted", name, "first failure, ms", await client.lastIs("gone", "UNAVAILABLE", 1_500));
    site.write({ "gone-l.json": listenerOf("gone") });
    const ms = recoversFromDeletion(name) ? await client.lastIs("gone", "blue", 2_000) : undefined;
    note("G7 listener back", name, "first answer, ms", ms ?? "not asked of this client");
    await client.remove("gone");
    // Deletes a cluster, of a service that no other test uses.
    const [api, table, ...clusterAndEndpoints] = grpcService("gone-c", [blue.port]) as [object, object, ...object[]];
    site.write({
      "gone.json": undefined,
      "gone-l.json": undefined,
      "gone-c.json": [api, table],
      "gone-cluster.json": clusterAndEndpoints,
    });
    await client.add("gone-c", { rate: 50, deadlineMs: 2_000 });
    await client.lastIs("gone-c", "blue", 3_000);
    site.write({ "gone-cluster.json": undefined });
    note("G7 cluster deleted", name, "first failure, ms", await client.lastIs("gone-c", "UNAVAILABLE", 1_500));
    site.write({ "gone-cluster.json": clusterAndEndpoints });
    const back = recoversFromDeletion(name) ? await client.lastIs("gone-c", "blue", 2_000) : undefined;
    note("G7 cluster back", name, "first answer, ms", back ?? "not asked of this client");
    await client.remove("gone-c");
  });

  test("G7: keeps its listener when told to ignore deletions", async () => {
    const ignoring = stack.use(
      await startGrpcClient(name, {
        xdsPort: server.port,
        nodeId: "ignoring",
        serverFeatures: ["ignore_resource_deletion"],
      }),
    );
    site.write({
      "kept-l.json": grpcService("kept", [blue.port]).slice(0, 1),
      "kept.json": grpcService("kept", [blue.port]).slice(1),
    });
    // Calls before the server has read the files would fail.
    await until({ says: "the server has the listener", withinMs: 5_000 }, async () => {
      const { items } = (await server.admin("/api/v1/resources?name=kept")) as { readonly items: readonly unknown[] };
      return items.length > 0;
    });
    await ignoring.add("kept", { deadlineMs: FIRST_CALL_MS });
    await ignoring.lastIs("kept", "blue", FIRST_CALL_MS);
    site.write({ "kept-l.json": undefined });
    await watchFor(1_500);
    expect((await ignoring.counts("kept")).failed).toEqual([]);
    await ignoring[Symbol.asyncDispose]();
  });

  test("G8: loses no call while the server is killed and comes back, and then hears of changes", async () => {
    const before = [await client.failures("svc-a"), await client.failures("svc-b")];
    await server.kill();
    await watchFor(times(1_000, 3_000));
    await server.start();
    await watchFor(1_500);
    expect([await client.failures("svc-a"), await client.failures("svc-b")]).toEqual(before);
    const startedAt = performance.now();
    site.write({ "svc-a.json": grpcService("svc-a", [green.port]) });
    // The back-off of the client has grown with the time that the server took to start.
    await client.lastIs("svc-a", "green", 60_000);
    note("G8 first change after a restart", name, "ms", Math.round(performance.now() - startedAt));
    site.write({ "svc-a.json": grpcService("svc-a", [blue.port]) });
    await client.lastIs("svc-a", "blue", 2_000);
    expect(await client.failures("svc-a")).toBe(before[0]);
  });
}
