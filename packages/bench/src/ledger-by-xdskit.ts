import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { createServer } from "@xdskit/server";

// `fill DIRECTORY CHANGES RESOURCES` makes live changes of so many ClusterLoadAssignments on a server whose ledger is in the
// directory, and prints the memory ten times on the way. `open DIRECTORY` starts a server there, and prints how long
// that took until it listened, and at which number it is.

const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
/** So many changes are published at once, as a source in a hurry does; the ledger appends them together. */
const AT_ONCE = 200;
const api = createEnvoyApi();
const [, , command, directory = "", changes = "0", resources = "1"] = process.argv;

function makeEndpoints(i: number, change: number): Resource {
  const address = { socket_address: { address: "10.0.0.1", port_value: 1_000 + (change % 60_000) } };
  const { input, problems } = api.readResource({
    "@type": ENDPOINTS,
    cluster_name: `cluster-${i}`,
    endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
  });
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

function memoryMb(): { readonly heap: number; readonly resident: number } {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: (heapUsed + external) / 2 ** 20, resident: rss / 2 ** 20 };
}

function say(what: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

const server = createServer({ api, ledger: { directory } });

async function put(puts: readonly Resource[]): Promise<void> {
  const result = await server.publish({ changes: [{ layer: "base", puts }], origin: { writer: "bench" } });
  if (result.kind !== "applied") throw new Error(JSON.stringify(result));
}

async function fill(many: number, of: number): Promise<void> {
  await put(Array.from({ length: of }, (_, i) => makeEndpoints(i, 0)));
  const step = many / 10;
  for (let made = 0, told = 0; made < many; made += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, many - made) }, (_, i) => made + i);
    await Promise.all(numbers.map((number) => put([makeEndpoints(number % of, 1 + Math.floor(number / of))])));
    if (made + AT_ONCE < told + step) continue;
    told += step;
    say({ event: "filled", changes: made + AT_ONCE, ...memoryMb() });
  }
}

async function open(): Promise<void> {
  const begin = performance.now();
  const { user, system } = process.cpuUsage();
  server.on("ledger-resumed", ({ number }) => {
    const ms = performance.now() - begin;
    const cpu = process.cpuUsage();
    say({ event: "opened", number, ms, cpuMs: (cpu.user - user + cpu.system - system) / 1_000, ...memoryMb() });
  });
  await server.listen();
}

await (command === "fill" ? fill(Number(changes), Number(resources)) : open());
await server.close();
