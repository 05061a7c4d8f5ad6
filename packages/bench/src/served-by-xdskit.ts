import { createInterface } from "node:readline";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { createManagementServer } from "@xdskit/server";

// Serves the benchmark's clusters with xdskit, as peers/gcp does with go-control-plane: a line "change" on stdin changes one
// of them, and the time at which the change was handed over is printed.

const count = Number(process.argv[2] ?? "100");
const PADDING = 150;
const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const api = createEnvoyApi();

function makeCluster(i: number, change: number): Resource {
  const padding = Array.from({ length: PADDING }, (_, j) => String.fromCharCode(97 + ((i + j) % 26))).join("");
  const { input, problems } = api.readResource({
    "@type": CLUSTER,
    name: `cluster-${String(i).padStart(6, "0")}`,
    alt_stat_name: padding,
    connect_timeout: `${(change + 1) / 1000}s`,
    type: "EDS",
    eds_cluster_config: { eds_config: { resource_api_version: "V3", ads: {} } },
  });
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

function say(what: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

const server = createManagementServer({ api });
const puts = Array.from({ length: count }, (_, i) => makeCluster(i, 0));
server.commit({ changes: [{ layer: "base", puts }] });
puts.length = 0;
const { address } = await server.start();
say({ event: "listening", address: `${address.host}:${address.port}` });
say({ event: "ready" });
let changes = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== "change") continue;
  const change = makeCluster(1, ++changes);
  const at = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
  server.commit({ changes: [{ layer: "base", puts: [change] }] });
  say({ event: "changed", at: String(at) });
}
await server.close();
