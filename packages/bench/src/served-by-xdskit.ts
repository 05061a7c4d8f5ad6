import { createInterface } from "node:readline";
import { setTimeout as elapsed } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { createServer, type ManagementServerOptions } from "@xdskit/server";
import { createPrimary } from "@xdskit/server/internal";
import { openEtcdStore } from "@xdskit/store-etcd";

// Serves the benchmark's clusters with xdskit, as peers/gcp does with go-control-plane: a line "change" on stdin
// changes one of them and prints the time of the commit; "change-each N" changes the first N, one commit each;
// "change-endpoints N" changes the endpoints of the first N in turn, 1,000 a second.
// `--endpoints` adds their endpoints and a route; `--no-order` disables make before break; `--polls` holds polls for as
// long as their clients wait, from one address; `--own-layers N` gives each of N nodes a layer with one Cluster above
// the shared one; `--no-debounce` sends each change at once; `--padding N` is the number of padding bytes in each cluster;
// `--many-streams` takes as many streams of one address as come; `--herd PORT` does, too, listens there, and gives the node
// "edited" a Cluster of its own, which a line "edit" changes;
// `--store HOST:PORT` keeps it in that etcd, and with `--follows` another server publishes there;
// `--workers N` lets N processes serve the clients; `--node-http2` leaves HTTP/2 to `node:http2`; `--ledger DIRECTORY` publishes each change, and keeps the history there.

const count = Number(process.argv[2] ?? "100");
const hasEndpoints = process.argv.includes("--endpoints");
const http2 = process.argv.includes("--node-http2") ? "node" : "builtin";
const makeBeforeBreak = !process.argv.includes("--no-order");
const ledger = process.argv[process.argv.indexOf("--ledger") + 1 || Number.NaN];
const workers = Number(process.argv[process.argv.indexOf("--workers") + 1 || Number.NaN] ?? "0");
const store = process.argv[process.argv.indexOf("--store") + 1 || Number.NaN];
const follows = process.argv.includes("--follows");
const isPublished = ledger !== undefined || store !== undefined || workers > 0;
const padding = Number(process.argv[process.argv.indexOf("--padding") + 1 || Number.NaN] ?? "150");
const ownLayers = Number(process.argv[process.argv.indexOf("--own-layers") + 1 || Number.NaN] ?? "0");
const herdPort = process.argv[process.argv.indexOf("--herd") + 1 || Number.NaN];
const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const ROUTES = formatTypeUrl("envoy.config.route.v3.RouteConfiguration");
const api = createEnvoyApi();

function make(value: Readonly<Record<string, unknown>>): Resource {
  const { input, problems } = api.readResource(value);
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

function nameOf(i: number): string {
  return `cluster-${String(i).padStart(6, "0")}`;
}

function makeCluster(i: number, change: number): Resource {
  const text = Array.from({ length: padding }, (_, j) => String.fromCharCode(97 + ((i + j) % 26))).join("");
  return make({
    "@type": CLUSTER,
    name: nameOf(i),
    alt_stat_name: text,
    connect_timeout: `${(change + 1) / 1000}s`,
    type: "EDS",
    eds_cluster_config: { eds_config: { resource_api_version: "V3", ads: {} } },
  });
}

function makeEndpoints(i: number, change = 0): Resource {
  const address = { socket_address: { address: "10.0.0.1", port_value: 1_000 + ((i + change) % 5_000) } };
  return make({
    "@type": ENDPOINTS,
    cluster_name: nameOf(i),
    endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
  });
}

function makeRoutes(): Resource {
  const routes = [{ match: { prefix: "/" }, route: { cluster: nameOf(1) } }];
  return make({ "@type": ROUTES, name: "routes", virtual_hosts: [{ name: "all", domains: ["*"], routes }] });
}

function say(what: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

const polls = { rest: { maxHoldMs: 900_000 }, limits: { maxStreamsPerPeer: 50_000 } };
const MANY = 100_000;
const manyStreams = { limits: { maxStreams: MANY, maxStreamsPerPeer: MANY, maxConnectionsPerPeer: MANY } };
const herd = {
  ...manyStreams,
  listen: { port: Number(herdPort) },
  nodeMapping: ({ id }: { readonly id: string }) => (id === "edited" ? ["edited", "base"] : ["base"]),
};
const serverOptions: ManagementServerOptions = {
  http2,
  api,
  dialect: { makeBeforeBreak },
  ...(process.argv.includes("--no-debounce") && { limits: { maxDebounceMs: 0 } }),
  ...(process.argv.includes("--polls") && polls),
  ...(process.argv.includes("--many-streams") && manyStreams),
  ...(ownLayers > 0 && { nodeMapping: ({ id }) => [`node/${id}`, "base"] }),
  ...(herdPort !== undefined && herd),
  ...(workers > 0 && { admin: { port: 0 } }),
  // What workers serve comes from a ledger; without a directory it is in memory.
  ...(isPublished && {
    ledger: {
      ...(ledger !== undefined && { directory: ledger }),
      ...(store !== undefined && { store: await openEtcdStore({ endpoints: [store] }) }),
      publishes: follows ? "never" : "always",
    },
  }),
};
const entry = fileURLToPath(new URL("./served-worker.js", import.meta.url));
const server =
  workers === 0
    ? createServer(serverOptions)
    : createPrimary(serverOptions, { count: workers, entry, setup: undefined });

/** Puts resources into force: at once, or with a ledger once they are in it. */
async function put(
  ...changes: readonly { readonly layer: string; readonly puts: readonly Resource[] }[]
): Promise<void> {
  if (!isPublished) {
    server.commit({ changes });
    return;
  }
  const result = await server.publish({ changes, origin: { writer: "bench" } });
  if (result.kind !== "applied") throw new Error(JSON.stringify(result));
}

const puts = Array.from({ length: count }, (_, i) => makeCluster(i, 0));
if (hasEndpoints) puts.push(...Array.from({ length: count }, (_, i) => makeEndpoints(i)), makeRoutes());
if (!follows) await put({ layer: "base", puts });
puts.length = 0;
const own = makeCluster(count, 0);
if (ownLayers > 0)
  await put(...Array.from({ length: ownLayers }, (_, i) => ({ layer: `node/bench-${i}`, puts: [own] })));
const { address, adminAddress: admin } = await server.listen();
say({ event: "listening", address: `${address.host}:${address.port}`, admin: admin && `${admin.host}:${admin.port}` });
while (server.revision === 0) await elapsed(10);
say({ event: "ready" });
let changes = 0;

/** Changes the clusters one after another, and lets each commit be sent before the next. */
async function change(numbers: readonly number[]): Promise<void> {
  changes++;
  const puts = Array.from(numbers, (number) => makeCluster(number, changes));
  const at = now();
  for (const one of puts) {
    await put({ layer: "base", puts: [one] });
    if (puts.length > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  say({ event: "changed", at: String(at) });
}

/** The stream of the node "edited". */
let editedStream: number | undefined;
let answered: () => void = () => {};
server.on("request-classified", ({ node, stream }) => {
  if (node.id === "edited") editedStream = stream;
});
server.on("response-queued", ({ stream }) => {
  if (stream === editedStream) answered();
});

/** Tells what processor time passed until its client was sent the change, which other programs do not lengthen. */
async function edit(): Promise<void> {
  changes++;
  const before = process.cpuUsage();
  answered = () => {
    answered = () => {};
    const { user, system } = process.cpuUsage(before);
    say({ event: "answered", cpuMs: (user + system) / 1_000 });
  };
  await put({ layer: "edited", puts: [makeCluster(count, changes)] });
}

/** Changes so many endpoints, 1,000 a second. None waits for the one before. */
async function changeEndpoints(many: number): Promise<void> {
  changes++;
  const at = now();
  const begin = performance.now();
  const applied: Promise<void>[] = [];
  while (applied.length < many) {
    const due = Math.min(many, Math.ceil(performance.now() - begin));
    for (let i = applied.length; i < due; i++) applied.push(put({ layer: "base", puts: [makeEndpoints(i, changes)] }));
    await elapsed(1);
  }
  await Promise.all(applied);
  say({ event: "changed", at: String(at) });
}

/** Nanoseconds since 1970. */
function now(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, many] = line.split(" ");
  if (command === "change") await change([1]);
  else if (command === "change-each") await change(Array.from({ length: Number(many) }, (_, i) => i));
  else if (command === "edit") await edit();
  else if (command === "change-endpoints") await changeEndpoints(Number(many));
}
await server.close();
