import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as elapsed } from "node:timers/promises";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { createServer } from "@xdskit/server";

// The server of the measurement of a console that stays open: a ledger on disk, a shared layer, and a layer for each of
// N groups of nodes, with its clusters. From the line "start" on, it publishes 100 changes a second: the endpoints of one
// cluster of one group after another, and every five seconds those of the shared cluster, which concern every node.

const CLUSTERS = 4;
const CHANGES_PER_SECOND = 100;
const SHARED_EVERY = 500;
const groups = Number(process.argv[2] ?? "500");
const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const api = createEnvoyApi();

function make(value: Readonly<Record<string, unknown>>): Resource {
  const { input, problems } = api.readResource(value);
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

function makeCluster(name: string): Resource {
  const eds = { eds_config: { resource_api_version: "V3", ads: {} } };
  return make({ "@type": CLUSTER, name, connect_timeout: "1s", type: "EDS", eds_cluster_config: eds });
}

function makeEndpoints(name: string, change: number): Resource {
  const address = { socket_address: { address: "10.0.0.1", port_value: 1_000 + (change % 50_000) } };
  return make({
    "@type": ENDPOINTS,
    cluster_name: name,
    endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
  });
}

function say(what: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

const directory = mkdtempSync(join(tmpdir(), "xds-console-"));
const server = createServer({
  api,
  ledger: { directory },
  admin: { host: "127.0.0.1", port: 0 },
  nodeMapping: ({ cluster }) => [cluster, "base"],
  // The clients share the machine, and may have none of it for a while.
  limits: { keepaliveTimeoutMs: 120_000, maxStreamsPerPeer: 50_000 },
});

async function publish(layer: string, puts: readonly Resource[]): Promise<void> {
  const result = await server.publish({ changes: [{ layer, puts }], origin: { writer: "bench" } });
  if (result.kind !== "applied") throw new Error(JSON.stringify(result));
}

const resourcesOf = (names: readonly string[]): readonly Resource[] =>
  names.flatMap((name) => [makeCluster(name), makeEndpoints(name, 0)]);
const namesOf = (group: number): readonly string[] =>
  Array.from({ length: CLUSTERS }, (_, i) => `service-${group}-${i}`);
const changes = Array.from({ length: groups }, (_, group) => ({
  layer: `group-${group}`,
  puts: resourcesOf(namesOf(group)),
}));
const first = { changes: [{ layer: "base", puts: resourcesOf(["shared"]) }, ...changes], origin: { writer: "bench" } };
const { kind } = await server.publish(first);
if (kind !== "applied") throw new Error(kind);

/** What is due by the clock is published, so that a busy machine does not slow the changes down. */
async function change(): Promise<void> {
  const begin = performance.now();
  let made = 0;
  for (;;) {
    const due = Math.floor(((performance.now() - begin) * CHANGES_PER_SECOND) / 1_000);
    const now: Promise<void>[] = [];
    while (made < due) {
      made++;
      const group = made % groups;
      const name = `service-${group}-${Math.floor(made / groups) % CLUSTERS}`;
      const isShared = made % SHARED_EVERY === 0;
      now.push(
        isShared
          ? publish("base", [makeEndpoints("shared", made)])
          : publish(`group-${group}`, [makeEndpoints(name, made)]),
      );
    }
    await Promise.all(now);
    await elapsed(1_000 / CHANGES_PER_SECOND);
  }
}

const { address, adminAddress } = await server.listen();
say({ event: "listening", port: address.port, adminPort: adminAddress?.port, pid: process.pid });
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
process.once("SIGTERM", () => process.exit());
for await (const line of createInterface({ input: process.stdin })) if (line === "start") void change();
process.exit();
