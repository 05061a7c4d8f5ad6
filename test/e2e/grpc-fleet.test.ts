import { describe, expect, test } from "vitest";
import { subscriptions } from "./support/admin.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import { type GrpcClient, startGrpcClient } from "./support/grpc-client.ts";
import { note, times } from "./support/measure.ts";
import { type GrpcClientName, grpcClients, peerCommand } from "./support/peers.ts";
import { endpoints, grpcService, staticCluster } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";
import { until, watchFor } from "./support/wait.ts";

const present = grpcClients.filter((name) => peerCommand(name) !== undefined);
const absent = grpcClients.filter((name) => peerCommand(name) === undefined);

// In grpc-js-xds 1.14.1, the 15 s timer does not run for names added later: a call hangs until its own deadline.
const noticesMissing = (name: GrpcClientName): boolean => name !== "grpc-node";

// For a cold JVM beside other processes on two cores.
const FIRST_CALL_MS = 15_000;

describe("gRPC clients of every language on one server", () => {
  for (const name of absent) test.skip(`${name} (skipped: it is not installed)`, () => {});

  test("G9: loses no call while connections grow old and are given up", async () => {
    await using stack = createStack();
    const blue = stack.use(await startGrpcBackend("blue"));
    const site = stack.use(createSite({ "svc.json": grpcService("svc", [blue.port]) }));
    const server = stack.use(
      await startXdsServer({ site, flags: ["--max-connection-age", "2s", "--max-connection-age-grace", "500ms"] }),
    );
    const clients = await startAll(stack, server.port);
    for (const client of clients) await client.lastIs("svc", "blue", FIRST_CALL_MS);
    // A short time: the back-off of grpc-js-xds doubles with every stream that ends, even after responses.
    await watchFor(times(8_000, 15_000));
    const green = stack.use(await startGrpcBackend("green"));
    site.write({ "svc.json": grpcService("svc", [green.port]) });
    for (const client of clients)
      note("G9 change on aged connections", client.name, "ms", await client.lastIs("svc", "green", 20_000));
    expect(await Promise.all(clients.map((client) => client.failures("svc")))).toEqual(clients.map(() => 0));
  });

  test("G11: 40,000 clusters in store cost a client that asks for one nothing", async () => {
    await using stack = createStack();
    const blue = stack.use(await startGrpcBackend("blue"));
    const many = Array.from({ length: times(10_000, 40_000) }, (_, index) => staticCluster(`many-${index}`, [1]));
    const site = stack.use(createSite({ "many.json": many, "svc.json": grpcService("svc", [blue.port]) }));
    const server = stack.use(await startXdsServer({ site }));
    for (const name of present) {
      const proxy = stack.use(await startTcpProxy(server.port));
      const client = stack.use(await startGrpcClient(name, { xdsPort: proxy.port }));
      await client.add("svc");
      const ms = await client.lastIs("svc", "blue", FIRST_CALL_MS);
      const bytes = proxy.take().fromServer;
      note("G11 one of many clusters", name, "ms, bytes", `${ms}, ${bytes}`);
      expect({ name, small: bytes < 10_000, failures: await client.failures("svc") }).toEqual({
        name,
        small: true,
        failures: 0,
      });
      await client[Symbol.asyncDispose]();
    }
  });

  test("G12: what is missing is missed after 15 s, and taken the moment it is there, early or late", async () => {
    await using stack = createStack();
    const blue = stack.use(await startGrpcBackend("blue"));
    const [service, late] = [grpcService("svc", [blue.port]), grpcService("late", [blue.port])];
    const site = stack.use(createSite({ "svc.json": service.slice(0, 1), "late.json": late.slice(0, 1) }));
    const server = stack.use(await startXdsServer({ site }));
    const clients = await startAll(stack, server.port);
    for (const client of clients) await client.add("late", { rate: 20, deadlineMs: 10_000 });
    await watchFor(2_000);
    site.write({ "late.json": late });
    for (const client of clients)
      note("G12 created after 2 s", client.name, "first answer, ms", await client.lastIs("late", "blue", 3_000));
    expect(await Promise.all(clients.map((client) => client.failures("late")))).toEqual(clients.map(() => 0));
    const noticing = clients.filter((client) => noticesMissing(client.name));
    for (const client of noticing) {
      await until(
        { says: `${client.name} gives up waiting for routes`, withinMs: 20_000 },
        async () => (await client.counts("svc")).last === "UNAVAILABLE",
      );
    }
    site.write({ "svc.json": service });
    for (const client of clients)
      note("G12 created after 15 s", client.name, "first answer, ms", await client.lastIs("svc", "blue", 3_000));
  });

  test("G13: the server forgets what a closed channel had asked for, and does not speak of it again", async () => {
    await using stack = createStack();
    const blue = stack.use(await startGrpcBackend("blue"));
    const green = stack.use(await startGrpcBackend("green"));
    const site = stack.use(
      createSite({ "one.json": grpcService("one", [blue.port]), "two.json": grpcService("two", [blue.port]) }),
    );
    const server = stack.use(await startXdsServer({ site }));
    for (const name of present) {
      const proxy = stack.use(await startTcpProxy(server.port));
      const client = stack.use(await startGrpcClient(name, { xdsPort: proxy.port, nodeId: name }));
      for (const target of ["one", "two"]) await client.add(target);
      for (const target of ["one", "two"]) await client.lastIs(target, "blue", FIRST_CALL_MS);
      expect(await subscriptions(server, name)).toEqual({ lds: 2, rds: 2, cds: 2, eds: 2 });
      await client.remove("two");
      await until({ says: `${name} no longer asks for the second target`, withinMs: 8_000 }, async () => {
        return Object.values(await subscriptions(server, name)).join() === "1,1,1,1";
      });
      proxy.take();
      site.write({ "two.json": grpcService("two", [green.port]) });
      await watchFor(500);
      // Allows a keepalive ping; a response would be larger.
      expect({ name, silent: proxy.take().fromServer < 100 }).toEqual({ name, silent: true });
      site.write({ "two.json": grpcService("two", [blue.port]) });
      await client[Symbol.asyncDispose]();
    }
  });

  test("node groups: clients of two groups are sent to two backends, and one group changes alone", async () => {
    await using stack = createStack();
    const blue = stack.use(await startGrpcBackend("blue"));
    const green = stack.use(await startGrpcBackend("green"));
    const site = stack.use(
      createSite({
        "xdskit.yaml": "groups:\n  - name: canary\n    match: { metadata: { track: canary } }\n",
        "svc.json": grpcService("svc", [blue.port]),
        "groups/canary/svc.json": [endpoints("cluster-svc", [green.port])],
      }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const stable = await startAll(stack, server.port, { track: "stable" });
    const canary = await startAll(stack, server.port, { track: "canary" });
    for (const client of stable) await client.lastIs("svc", "blue", FIRST_CALL_MS);
    for (const client of canary) await client.lastIs("svc", "green", FIRST_CALL_MS);
    site.write({ "groups/canary": undefined });
    for (const client of canary)
      note("node group emptied", client.name, "ms", await client.lastIs("svc", "blue", 3_000));
    const all = [...stable, ...canary];
    expect(await Promise.all(all.map((client) => client.failures("svc")))).toEqual(all.map(() => 0));
  });
});

/** Starts every installed client, each with calls to the target "svc". */
async function startAll(stack: Stack, xdsPort: number, metadata: object = {}): Promise<GrpcClient[]> {
  const clients: GrpcClient[] = [];
  for (const name of present) {
    const client = stack.use(await startGrpcClient(name, { xdsPort, nodeId: `${name}-${clients.length}`, metadata }));
    await client.add("svc", { rate: 20, deadlineMs: 20_000 });
    clients.push(client);
  }
  return clients;
}
