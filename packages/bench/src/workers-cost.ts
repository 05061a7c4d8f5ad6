import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as elapsed } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ServerAnswer } from "@xdskit/server";
import { format, median } from "./figures.ts";
import { Peer, quiet, tell } from "./peer.ts";

/** Servers and the load client share all cores: with workers there is no core left for it alone. */
const CPUS = "0-1";
const CHANGES = 7;
const STREAMS = 1_000;

interface WorkersCell {
  readonly resources: number;
  readonly workers: number;
}

/** `xds serve` with a number of workers; each stream has its own connection. */
interface WorkersMeasurement {
  readonly cell: WorkersCell;
  readonly firstSyncMs: number;
  /** From the save until the last client has the change. */
  readonly changeMs: readonly number[];
  readonly primaryMb: number;
  /** The memory of each worker; none without workers. */
  readonly workersMb: readonly number[];
  readonly connections: readonly number[];
}

/** Measures 1 and 2 workers in turn. */
export async function measureWorkers(runs: number, tools: string, isLong: boolean): Promise<string> {
  const cells = (isLong ? [100, 10_000] : [100]).flatMap((resources) =>
    [1, 2].map((workers): WorkersCell => ({ resources, workers })),
  );
  const all: WorkersMeasurement[] = [];
  for (let run = 0; run < runs; run++) for (const cell of cells) all.push(await measureCell(cell, tools));
  const rows = cells.map((cell) => {
    const own = all.filter((one) => one.cell === cell);
    const columns = [
      format(median(own.map((one) => one.firstSyncMs))),
      format(median(own.flatMap((one) => one.changeMs))),
      format(median(own.map((one) => one.primaryMb))),
      own.at(-1)?.workersMb.map(format).join(" + ") ?? "",
      own.at(-1)?.connections.join(" + ") ?? "",
    ];
    return `| ${cell.resources.toLocaleString("en")} x ${STREAMS.toLocaleString("en")}, ${cell.workers} | ${columns.join(" | ")} |`;
  });
  return [
    "| xds serve, workers | first sync, ms | 1 change, from the save, ms | MB, primary | MB, workers | connections |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

async function measureCell(cell: WorkersCell, tools: string): Promise<WorkersMeasurement> {
  const directory = mkdtempSync(join(tmpdir(), "xds-workers-"));
  try {
    return await serve(directory, cell, tools);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function serve(directory: string, cell: WorkersCell, tools: string): Promise<WorkersMeasurement> {
  const program = fileURLToPath(new URL("../../cli/bin/xds.js", import.meta.url));
  writeFileSync(join(directory, "others.json"), textOf(1, cell.resources, 0));
  writeFileSync(join(directory, "first.json"), textOf(0, 1, 0));
  const listen = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--validation", "off", "--state-dir", "off"];
  const args = [program, "serve", directory, ...listen, "--workers", String(cell.workers)];
  await using server = new Peer(process.execPath, args, CPUS, "stderr");
  const { address, admin } = await server.hears("serving");
  while (!(await fetch(`http://${String(admin)}/readyz`)).ok) await elapsed(50);
  const load = ["-address", String(address), "-streams", String(STREAMS), "-variant", "delta"];
  await using client = new Peer(`${tools}/load`, load, CPUS);
  const first = await tell(client, "connect", "synced");
  await quiet(server);
  const changeMs: number[] = [];
  for (let change = 1; change <= CHANGES; change++) {
    await tell(client, "arm", "armed");
    client.say("wait");
    const at = Date.now();
    writeFileSync(join(directory, "first.json"), textOf(0, 1, change));
    const { last } = await client.hears("received");
    changeMs.push(Number(BigInt(String(last)) / 1_000_000n) - at);
    await quiet(server);
  }
  const status = (await (await fetch(`http://${String(admin)}/api/v1/server`)).json()) as ServerAnswer;
  const { workers = [] } = status;
  return {
    ...{ cell, firstSyncMs: Number(first["ms"]), changeMs },
    primaryMb: status.process.residentBytes / 2 ** 20,
    workersMb: workers.map(({ residentBytes }) => residentBytes / 2 ** 20),
    connections: workers.length === 0 ? [status.connections] : workers.map(({ connections }) => connections),
  };
}

function textOf(from: number, to: number, change: number): string {
  const resources = Array.from({ length: to - from }, (_, index) => ({
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name: `cluster-${String(from + index).padStart(6, "0")}`,
    alt_stat_name: "abcdefghijklmnopqrstuvwxyz".repeat(6).slice(0, 150),
    connect_timeout: `${(change + 1) / 1000}s`,
    type: "EDS",
    eds_cluster_config: { eds_config: { resource_api_version: "V3", ads: {} } },
  }));
  return JSON.stringify({ resources });
}
