import { afterAll, beforeAll, expect, test } from "vitest";
import { fates, nacks, refusals } from "./support/admin.ts";
import { type GrpcClient, junctionLosesWithoutServer, startGrpcClient } from "./support/grpc-client.ts";
import { note, times } from "./support/measure.ts";
import { describeWith } from "./support/peers.ts";
import { freePorts } from "./support/port.ts";
import { junctionName, junctionService, staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

const SHOP = "shop.e2e.svc.cluster.local";
const OTHER = "other.e2e.svc.cluster.local";

/** Ports without a listener: the client resolves them and does not call. */
const [blue = 0, green = 0] = await freePorts(2);
const address = (port: number): string => `127.0.0.1:${port}`;

describeWith("junction", "a delta client that is not Envoy", () => {
  const stack = createStack();
  let site: Site;
  let server: XdsServer;
  let client: GrpcClient;

  beforeAll(async () => {
    site = stack.use(
      createSite({
        "shop.json": junctionService(SHOP, SHOP, [blue]),
        "other.json": junctionService(OTHER, OTHER, [green]),
      }),
    );
    server = stack.use(await startXdsServer({ site }));
    client = stack.use(await startGrpcClient("junction", { xdsPort: server.port, nodeId: "junction-1" }));
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const shop = junctionName(SHOP);
  const follows = async (scenario: string, port: number): Promise<void> =>
    note(scenario, "junction", "ms", await client.lastIs(shop, address(port), 3_000));
  const isInSync = async (node: string): Promise<boolean> => {
    const states = await fates(server, node);
    return ["cds", "eds", "lds", "rds"].every((type) => states[type] === "acked");
  };
  const failed = async (): Promise<unknown> => [
    (await client.counts(shop)).failed,
    (await client.counts(junctionName(OTHER))).failed,
  ];

  test("resolves two targets over one delta stream", async () => {
    await client.add(shop, { rate: 100 });
    await client.add(junctionName(OTHER), { rate: 100 });
    await follows("J1 first address", blue);
    await client.lastIs(junctionName(OTHER), address(green), 3_000);
    await until({ says: "all is acknowledged", withinMs: 3_000 }, () => isInSync("junction-1"));
    expect(await failed()).toEqual([[], []]);
  });

  test("follows endpoints that move", async () => {
    site.write({ "shop.json": junctionService(SHOP, SHOP, [green]) });
    await follows("J2 endpoints moved", green);
    site.write({ "shop.json": junctionService(SHOP, SHOP, [blue]) });
    await follows("J2 endpoints moved", blue);
    expect(await failed()).toEqual([[], []]);
  });

  test("misses no address when one cluster is swapped for another in one edit", async () => {
    const rounds = times(3, 20);
    for (let round = 0; round < rounds; round++) {
      const port = round % 2 === 0 ? green : blue;
      site.write({ "shop.json": junctionService(SHOP, `swap-${round}.e2e.svc.cluster.local`, [port]) });
      await follows("J3 cluster swapped", port);
    }
    site.write({ "shop.json": junctionService(SHOP, SHOP, [blue]) });
    await follows("J3 cluster swapped", blue);
    expect(await failed()).toEqual([[], []]);
  });

  test("refuses what is named against its rules, once and with a reason, and follows everything else", async () => {
    const before = await nacks(server);
    site.write({ "refused.json": [staticCluster("not-a-service", [blue])] });
    await until(
      { says: "the server knows of the refusal", withinMs: 3_000 },
      async () => (await nacks(server)) > before,
    );
    await watchFor(times(500, 3_000));
    expect({ refused: await refusals(server, "junction-1"), nacks: (await nacks(server)) - before }).toEqual({
      refused: { "envoy.config.cluster.v3.Cluster": "invalid resources" },
      nacks: 1,
    });
    site.write({ "shop.json": junctionService(SHOP, SHOP, [green]) });
    await follows("J4 after a refusal", green);
    site.write({ "refused.json": undefined });
    await until({ says: "nothing is refused any more", withinMs: 3_000 }, () => isInSync("junction-1"));
    expect(await failed()).toEqual([[], []]);
  });

  test("goes on while the server is killed and comes back, and then hears of changes", async () => {
    // A new client: junction-core 0.3.2, after a removal, subscribes on a new stream to the removed resource only.
    await client[Symbol.asyncDispose]();
    client = stack.use(await startGrpcClient("junction", { xdsPort: server.port, nodeId: "junction-2" }));
    await client.add(shop, { rate: 100 });
    await follows("J5 first address", green);
    await until({ says: "all is acknowledged", withinMs: 3_000 }, () => isInSync("junction-2"));
    await server.kill();
    await watchFor(times(1_000, 3_000));
    await server.start();
    await until({ says: "it is back", withinMs: 10_000 }, () => isInSync("junction-2"));
    site.write({ "shop.json": junctionService(SHOP, SHOP, [blue]) });
    await follows("J5 first change after a restart", blue);
    const { failed: failures } = await client.counts(shop);
    expect(failures.filter(({ code, text }) => !junctionLosesWithoutServer.test(`${code} ${text}`))).toEqual([]);
  });
});
