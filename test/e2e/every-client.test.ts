import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AnyClient, type ClientRow, everyClient, serviceFiles } from "./support/every-client.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import type { Backend } from "./support/http-backend.ts";
import { note, times } from "./support/measure.ts";
import { peerCommand } from "./support/peers.ts";
import { nodesOf, startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { watchFor } from "./support/wait.ts";

const first = "shop-0.e2e.svc.cluster.local:80";

const stack = createStack();
const rows = await everyClient(stack);
const present = rows.filter(({ peer }) => peerCommand(peer) !== undefined);

// For a cold JVM beside a dozen other processes on two cores.
const FIRST_ANSWER_MS = 30_000;

describe("every client that there is, at the same time, on one server", () => {
  const clients = new Map<ClientRow, AnyClient>();
  let blue: Backend;
  let green: Backend;
  let site: Site;
  let server: XdsServer;

  for (const { name, peer } of rows.filter((row) => !present.includes(row)))
    test.skip(`${name} (skipped: ${peer} is not installed)`, () => {});

  beforeAll(async () => {
    blue = stack.use(await startGrpcBackend("blue"));
    green = stack.use(await startGrpcBackend("green"));
    site = stack.use(createSite(serviceFiles(rows, first, blue.port)));
    server = stack.use(
      await startXdsServer({ site, flags: ["--validation", "off", ...present.flatMap(({ flags = [] }) => flags)] }),
    );
    for (const row of present) clients.set(row, await row.start(stack, server.port));
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const all = async <T>(ask: (client: AnyClient, row: ClientRow) => Promise<T>): Promise<Record<string, T>> =>
    Object.fromEntries(
      await Promise.all([...clients].map(async ([row, client]) => [row.name, await ask(client, row)] as const)),
    );
  const reach = async (scenario: string, backend: Backend, withinMs = 5_000): Promise<void> => {
    const ms = await all((client) => client.reaches(backend, withinMs));
    for (const [name, value] of Object.entries(ms)) note(scenario, name, "ms", value);
  };
  const lost = (): Promise<Record<string, object>> => all((client) => client.lost());
  const nothing: Record<string, object> = Object.fromEntries(present.map(({ name }) => [name, {}]));
  /** What clients lost because they had no server. */
  let lostBefore = nothing;
  const isOwn = (client: string, reason: string): boolean =>
    present.some(({ name, losesWithoutServer }) => name === client && losesWithoutServer?.test(reason) === true);
  const promised = present.filter(({ isUnordered }) => isUnordered !== true).map(({ name }) => name);

  test("is served", async () => {
    await reach("E1 first answer", blue, FIRST_ANSWER_MS);
  });

  test("is shown with the version of the API and the variant that it speaks", async () => {
    const { items } = await nodesOf(server);
    const speaks = items.map(({ id, streams }) => [
      id,
      [...new Set(streams.map(({ apiVersion, variant }) => `${apiVersion} ${variant}`))].join(),
    ]);
    expect(Object.fromEntries(speaks)).toEqual(
      Object.fromEntries(present.map(({ name, speaks: said }) => [name, said])),
    );
  });

  test("follows endpoints that move", async () => {
    site.write(serviceFiles(rows, first, green.port));
    await reach("E2 endpoints moved", green);
    expect(await lost()).toEqual(nothing);
  });

  test("loses no call while the server is killed and comes back, and hears of changes then", async () => {
    await server.kill();
    await watchFor(times(1_000, 3_000));
    await server.start();
    site.write(serviceFiles(rows, first, blue.port));
    await reach("E3 first change after a restart", blue, 20_000);
    lostBefore = await lost();
    const counted = Object.entries(lostBefore).map(([name, reasons]) => [
      name,
      Object.fromEntries(Object.entries(reasons).filter(([reason]) => !isOwn(name, reason))),
    ]);
    expect(Object.fromEntries(counted)).toEqual(nothing);
  });

  test("loses no call when one Cluster is swapped for another, but where no order is promised", async () => {
    for (let round = 1; round <= times(2, 20); round++) {
      const backend = round % 2 === 0 ? blue : green;
      site.write(serviceFiles(rows, `shop-${round}.e2e.svc.cluster.local:80`, backend.port));
      // The server has just restarted: resources that refer to a Cluster wait for the CDS stream, which may reconnect
      // last.
      await reach("E4 cluster swapped", backend, round === 1 ? 20_000 : undefined);
    }
    const failed = await lost();
    const kept = Object.fromEntries(promised.map((name) => [name, failed[name]]));
    expect(kept).toEqual(Object.fromEntries(promised.map((name) => [name, lostBefore[name]])));
  });
});
