import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, type TypeUrl } from "@xdskit/protocol";
import { createServer } from "@xdskit/server";
import { CLUSTER, ENDPOINTS, layersOf, type Write } from "./views.ts";

// The server of the hostile simulation: each line on stdin is a transaction, or requests the memory in use.

const collect = globalThis.gc;
if (collect === undefined) throw new Error("start it with --expose-gc");

const say = (what: Readonly<Record<string, unknown>>): void => void process.stdout.write(`${JSON.stringify(what)}\n`);
const server = createServer({
  api: createEnvoyApi(),
  nodeMapping: ({ id }) => layersOf(id),
  // Short limits, so that timeouts happen within a round.
  dialect: { orderLimitMs: 1_000, resumeGraceMs: 100, separateResumeGraceMs: 500, ackLimitMs: 2_000 },
});
const { address } = await server.listen();
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

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "memory") {
    for (let i = 0; i < 3; i++) {
      await nextTurn();
      await collect();
    }
    const { heapUsed, external } = process.memoryUsage();
    say({ event: "memory", mb: (heapUsed + external) / 1024 / 1024 });
  } else write(JSON.parse(line) as Write);
}
await server.close();
