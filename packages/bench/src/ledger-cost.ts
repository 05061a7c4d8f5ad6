import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, median } from "./figures.ts";
import { CLIENT_CPU, Peer, quiet, SERVER_CPU, tell } from "./peer.ts";

/** The cost of changes with the ledger in a directory, and without a ledger. */
export interface LedgerCost {
  readonly on: readonly LedgerChangeCost[];
  readonly off: readonly LedgerChangeCost[];
}

interface LedgerChangeCost {
  /** Milliseconds from the (last) change until the last client had it. */
  readonly ms: number;
  /** Processor time of the server for it and its ACKs, in milliseconds. */
  readonly cpuMs: number;
}

/** Clients of a server, and a change for them. */
export interface LedgerScene {
  readonly title: string;
  readonly rounds: number;
  readonly resources: number;
  readonly streams: number;
  /** Flags of the load client, and of the server. */
  readonly client?: readonly string[];
  readonly server?: readonly string[];
  /** Changes something, and measures that. */
  readonly change: (served: LedgerServed) => Promise<LedgerChangeCost>;
}

const SECONDS = 3;
const ENDPOINTS = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/** What is measured: a title for the table, and how. */
export const ledgerScenes: readonly LedgerScene[] = [
  { title: "1 change, 10,000 x 1,000", rounds: 30, resources: 10_000, streams: 1_000, change: changeOne },
  {
    title: `endpoints 1,000 times a second for ${SECONDS} s, 200 streams with 10 names each`,
    ...{ rounds: 5, resources: 1_000, streams: 200, change: changeEndpoints, server: ["--endpoints"] },
    client: ["-type", ENDPOINTS, "-names", "10", "-resources", "1000"],
  },
];

/**
 * Both servers run at once and change alternately, in alternating order. `tools` is the directory of the load client.
 * Directories are below `TMPDIR`: on a disk, an append waits for it.
 */
export async function measureLedger(scene: LedgerScene, tools: string): Promise<LedgerCost> {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-ledger-"));
  const sides = { on: [] as LedgerChangeCost[], off: [] as LedgerChangeCost[] };
  try {
    await using on = await start(scene, tools, ["--ledger", join(directory, "ledger")]);
    await using off = await start(scene, tools, []);
    for (let round = 0; round <= scene.rounds; round++) {
      const pair = [
        [on, sides.on],
        [off, sides.off],
      ] as const;
      for (const [served, costs] of round % 2 === 0 ? pair : pair.toReversed()) {
        const cost = await scene.change(served);
        // The first round warms up the code.
        if (round > 0) costs.push(cost);
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return sides;
}

interface LedgerServed extends AsyncDisposable {
  readonly server: Peer;
  readonly client: Peer;
}

async function start(
  { resources, streams, server: ofServer = [], client: ofClient = [] }: LedgerScene,
  tools: string,
  flags: readonly string[],
): Promise<LedgerServed> {
  const program = fileURLToPath(new URL("./served-by-xdskit.js", import.meta.url));
  const server = new Peer(process.execPath, [program, String(resources), ...ofServer, ...flags], SERVER_CPU);
  const { address } = await server.hears("listening");
  await server.hears("ready");
  const args = ["-address", String(address), "-streams", String(streams), ...ofClient];
  const client = new Peer(`${tools}/load`, args, CLIENT_CPU);
  await tell(client, "connect", "synced");
  await quiet(server);
  return {
    server,
    client,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function changeOne({ server, client }: LedgerServed): Promise<LedgerChangeCost> {
  const { cpuSeconds } = server.usage();
  await tell(client, "arm", "armed");
  client.say("wait");
  const { at } = await tell(server, "change", "changed");
  const { all, last } = await client.hears("received");
  if (all !== true) throw new Error("a change did not reach every stream");
  await quiet(server);
  return { ms: between(at, last), cpuMs: (server.usage().cpuSeconds - cpuSeconds) * 1_000 };
}

async function changeEndpoints({ server, client }: LedgerServed): Promise<LedgerChangeCost> {
  const { cpuSeconds } = server.usage();
  await tell(client, "arm", "armed");
  const { at } = await tell(server, `endpoints 1000 ${SECONDS}`, "changed");
  await quiet(server);
  const { last } = await tell(client, "tally", "tallied");
  return { ms: between(at, last), cpuMs: (server.usage().cpuSeconds - cpuSeconds) * 1_000 };
}

function between(at: unknown, last: unknown): number {
  return Number(BigInt(String(last)) - BigInt(String(at))) / 1e6;
}

/** Formats median times, mean CPU times (whose clock ticks every 10 ms) and their ratios as a Markdown table. */
export function ledgerTable(title: string, { on, off }: LedgerCost): string {
  return [
    `| ${title} | last client, ms | server CPU, ms |`,
    "| --- | --- | --- |",
    row("ledger in a directory", on),
    row("no ledger", off),
    `| on / off | ${(lateness(on) / lateness(off)).toFixed(2)} | ${(load(on) / load(off)).toFixed(2)} |`,
  ].join("\n");
}

function row(what: string, costs: readonly LedgerChangeCost[]): string {
  return `| ${[what, format(lateness(costs)), format(load(costs))].join(" | ")} |`;
}

function lateness(costs: readonly LedgerChangeCost[]): number {
  return median(costs.map(({ ms }) => ms));
}

function load(costs: readonly LedgerChangeCost[]): number {
  return costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / costs.length;
}
