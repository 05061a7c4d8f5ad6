import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatTypeUrl } from "@xdskit/protocol";
import {
  type AccessClientAnswer,
  createServer,
  type ManagementServer,
  type Page,
  type PlanAnswer,
  planLines,
} from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cluster, resource, testApi } from "../support/test-server.ts";

const LISTENER = formatTypeUrl("envoy.config.listener.v3.Listener");

let stateDir: string;
const servers: ManagementServer[] = [];

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "xds-state-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await rm(stateDir, { recursive: true, force: true });
});

const layers = new Map([["base", [cluster("a"), resource(LISTENER, "http")]]]);
const open = { groups: [], clients: [], access: undefined };

async function start() {
  const ledger = { directory: join(stateDir, "ledger") };
  const server = createServer({ api: testApi(), stateDir, ledger, admin: {} });
  servers.push(server);
  const { address, adminAddress } = await server.listen();
  /** A poll as by hand; its answer's version. */
  const poll = async (version?: string): Promise<string> => {
    const body = JSON.stringify({ node: { id: "edge" }, ...(version !== undefined && { version_info: version }) });
    const url = `http://127.0.0.1:${address.port}/v3/discovery:clusters`;
    const response = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
    return response.status === 200 ? ((await response.json()) as { versionInfo: string }).versionInfo : "";
  };
  /** How many nodes a plan says are connected. */
  const connected = async (): Promise<number> => {
    const body = [...planLines({ layers, placement: open }, testApi())].join("");
    const plan = await fetch(`http://127.0.0.1:${adminAddress?.port}/api/v1/plan`, { method: "POST", body });
    return ((await plan.json()) as PlanAnswer).nodes.connected;
  };
  /** Whom `xds access check` looks at. */
  const checked = async (): Promise<readonly string[]> => {
    const clients = await fetch(`http://127.0.0.1:${adminAddress?.port}/api/v1/access/clients`);
    return ((await clients.json()) as Page<AccessClientAnswer>).items.map(({ node }) => node);
  };
  return { server, poll, connected, checked };
}

/** What the fuses say of access rules that deny every client. */
async function denyAll(server: ManagementServer): Promise<readonly string[]> {
  const placement = { ...open, access: { loopback: "rules" as const, rules: [] } };
  return tripsOf(await server.publish({ layers, placement, origin: { writer: "directory" } }));
}

/** What the fuses say when the only listener is deleted. */
async function deleteListener(server: ManagementServer): Promise<readonly string[]> {
  const without = new Map([["base", [cluster("a")]]]);
  return tripsOf(await server.publish({ layers: without, placement: open, origin: { writer: "directory" } }));
}

function tripsOf(result: Awaited<ReturnType<ManagementServer["publish"]>>): readonly string[] {
  return result.kind === "held" ? result.trips.map(({ message }) => message) : [result.kind];
}

test("polls without a version, as with curl, are no connected node for a plan, the fuses and a check", async () => {
  const { server, poll, connected, checked } = await start();
  await server.publish({ layers, placement: open, origin: { writer: "directory" } });
  for (const _ of [1, 2]) await poll();
  expect([await connected(), await checked(), await denyAll(server)]).toEqual([0, [], ["applied"]]);
});

test("a poller is a connected node once it polls with the version that it was given", async () => {
  const { server, poll, connected, checked } = await start();
  await server.publish({ layers, placement: open, origin: { writer: "directory" } });
  await poll(await poll());
  expect([await connected(), await checked()]).toEqual([1, ["edge"]]);
  expect(await denyAll(server)).toEqual(["1 of 1 connected nodes would be cut off"]);
});

test.each([
  ["with a version may come back after a restart", true, "1 connected node would have no listener (layers base)"],
  ["without a version may not", false, "applied"],
])("a node that polled %s", async (_, answers, trip) => {
  const first = await start();
  await first.server.publish({ layers, placement: open, origin: { writer: "directory" } });
  const version = await first.poll();
  if (answers) await first.poll(version);
  await first.server.close();
  const second = await start();
  expect(await deleteListener(second.server)).toContain(trip);
});
