import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format, median } from "./figures.ts";
import { quiet, tell } from "./peer.ts";
import { type Served, startServed } from "./served.ts";

/** What changes cost with a history on disk, and without. */
export interface LedgerCost {
  readonly on: LedgerRun;
  readonly off: LedgerRun;
}

interface LedgerRun {
  /** Milliseconds from a change of one Cluster until the last client has it. */
  readonly changeMs: number[];
  /** CPU time of the server for it and its ACKs, in milliseconds. */
  readonly changeCpuMs: number[];
  /** Milliseconds from the first of many changed endpoints until the last client has all of them. */
  readonly liveMs: number[];
  /** CPU time of the server for them, in milliseconds. */
  readonly liveCpuMs: number[];
}

const RESOURCES = 10_000;
const STREAMS = 1_000;
const CHANGES = 10;
const NAMED_STREAMS = 200;
const NAMES_EACH = 50;
const LIVE_CHANGES = 5_000;

/** Alternates between both. `tools` is the directory of the load client. */
export async function measureLedger(runs: number, tools: string): Promise<LedgerCost> {
  const create = (): LedgerRun => ({ changeMs: [], changeCpuMs: [], liveMs: [], liveCpuMs: [] });
  const cost = { on: create(), off: create() };
  for (let run = 0; run < runs; run++) {
    for (const which of run % 2 === 0 ? (["on", "off"] as const) : (["off", "on"] as const)) {
      await measureChanges(tools, which, cost[which]);
      await measureLive(tools, which, cost[which]);
    }
  }
  return cost;
}

async function measureChanges(tools: string, ledger: keyof LedgerCost, into: LedgerRun): Promise<void> {
  await using pair = await start(tools, { ledger, flags: [], load: ["-streams", String(STREAMS)] });
  const { server, client } = pair;
  for (let change = 0; change <= CHANGES; change++) {
    const { cpuSeconds } = server.usage();
    await tell(client, "arm", "armed");
    client.say("wait");
    const { at } = await tell(server, "change", "changed");
    const { last } = await client.hears("received");
    await quiet(server);
    // The first one warms up the code.
    if (change === 0) continue;
    into.changeMs.push(millisecondsBetween(at, last));
    into.changeCpuMs.push((server.usage().cpuSeconds - cpuSeconds) * 1_000);
  }
}

async function measureLive(tools: string, ledger: keyof LedgerCost, into: LedgerRun): Promise<void> {
  const type = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
  const named = ["-names", NAMES_EACH, "-subscribers", NAMED_STREAMS, "-resources", RESOURCES].map(String);
  const load = ["-streams", String(NAMED_STREAMS), "-type", type, ...named];
  await using pair = await start(tools, { ledger, flags: ["--endpoints"], load });
  const { server, client } = pair;
  await tell(client, "arm", "armed");
  const { cpuSeconds } = server.usage();
  const { at } = await tell(server, `change-endpoints ${LIVE_CHANGES}`, "changed");
  await quiet(server);
  const { last } = await tell(client, "tally", "tallied");
  into.liveMs.push(millisecondsBetween(at, last));
  into.liveCpuMs.push((server.usage().cpuSeconds - cpuSeconds) * 1_000);
}

const millisecondsBetween = (from: unknown, to: unknown): number =>
  Number(BigInt(String(to)) - BigInt(String(from))) / 1e6;

interface Setup {
  readonly ledger: keyof LedgerCost;
  readonly flags: readonly string[];
  /** Arguments of the load client. */
  readonly load: readonly string[];
}

async function start(tools: string, { ledger, flags, load }: Setup): Promise<Served> {
  const directory = mkdtempSync(join(tmpdir(), "xds-ledger-"));
  const ledgerFlags = ledger === "on" ? ["--ledger", directory] : [];
  const served = await startServed({ tools, resources: RESOURCES, flags: [...flags, ...ledgerFlags], load });
  return {
    ...served,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Formats medians and their ratios as a Markdown table. */
export function ledgerTable({ on, off }: LedgerCost): string {
  const columns = ["changeMs", "changeCpuMs", "liveMs", "liveCpuMs"] as const;
  const row = (name: string, run: LedgerRun): string =>
    `| ${[name, ...columns.map((column) => format(median(run[column])))].join(" | ")} |`;
  const ratios = columns.map((column) => (median(on[column]) / median(off[column])).toFixed(2));
  return [
    "| history on disk | 1 change, last client, ms | server CPU for it, ms | 5,000 live changes, last client, ms | server CPU for them, ms |",
    "| --- | --- | --- | --- | --- |",
    row("on", on),
    row("off", off),
    `| on / off | ${ratios.join(" | ")} |`,
  ].join("\n");
}
