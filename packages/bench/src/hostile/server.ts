import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, type TypeUrl } from "@xdskit/protocol";
import { createServer, type ManagementServerOptions } from "@xdskit/server";
import { CLUSTER, ENDPOINTS, GOOD_LAYER, layersOf, type Write } from "./views.ts";

// The server of the hostile simulation: each line on stdin is a transaction, requests the memory in use, or edits what
// the client that behaves is timed by. With a directory of PEM files, clients have identities.

const collect = globalThis.gc;
if (collect === undefined) throw new Error("start it with --expose-gc");

const say = (what: Readonly<Record<string, unknown>>): void => void process.stdout.write(`${JSON.stringify(what)}\n`);
/** The clients share the machine, and may have none of it for a while: not every PING is answered in 10 s. */
const patient = { keepaliveTimeoutMs: 120_000 };
const identified = (pems: string): ManagementServerOptions => ({
  tls: { cert: join(pems, "cert.pem"), key: join(pems, "key.pem"), ca: join(pems, "ca.pem") },
  // Each group may be its own nodes.
  access: { loopback: "rules", rules: [{ identities: ["spiffe://soak/{group}"], nodes: ["{group}-*"] }] },
  limits: {
    ...{ maxConnections: 10_000, maxConnectionsPerIdentity: 1_000, maxRequestsPerSecondPerIdentity: 500 },
    ...patient,
    // Thousands of handshakes at once.
    handshakeTimeoutMs: 120_000,
  },
});
const [, , pems] = process.argv;
const server = createServer({
  limits: patient,
  ...(pems !== undefined && identified(pems)),
  api: createEnvoyApi(),
  serveEmpty: true,
  admin: { host: "127.0.0.1", port: 0 },
  nodeMapping: ({ id }) => layersOf(id),
  // Short limits, so that timeouts happen within a round.
  dialect: { orderLimitMs: 1_000, resumeGraceMs: 100, separateResumeGraceMs: 500, ackLimitMs: 2_000 },
});
const { address, adminAddress } = await server.listen();
say({ event: "listening", address: `${address.host}:${address.port}` });

function write({ layer, type, name, label }: Write): void {
  if (label === undefined) {
    server.commit({ changes: [{ layer, deletes: [{ type: type as TypeUrl, name }] }] });
    return;
  }
  const references = type === CLUSTER ? [{ type: ENDPOINTS, name }] : [];
  const bytes = new TextEncoder().encode(`${name}=${label}`);
  server.commit({
    changes: [{ layer, puts: [createResource({ type: type as TypeUrl, name, bytes, references }, contentDigest)] }],
  });
}

/** File descriptors, and what keeps the process running, by kind. */
function countHandles(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { descriptors: readdirSync("/proc/self/fd").length };
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "memory") {
    for (let i = 0; i < 3; i++) {
      await nextTurn();
      await collect();
    }
    const { heapUsed, external } = process.memoryUsage();
    say({ event: "memory", mb: (heapUsed + external) / 1024 / 1024, handles: countHandles() });
  } else if (line === "streams") {
    const { host, port } = adminAddress ?? address;
    const streams: unknown = await (await fetch(`http://${host}:${port}/api/v1/streams`)).json();
    say({ event: "streams", streams });
  } else if (line === "probe") {
    const label = String(performance.timeOrigin + performance.now());
    write({ layer: GOOD_LAYER, type: CLUSTER, name: "probe", label });
  } else write(JSON.parse(line) as Write);
}
await server.close();
