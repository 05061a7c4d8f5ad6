import { setTimeout as elapsed } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ServerAnswer } from "@xdskit/server";
import { CHANGE_COLUMNS, type ChangesCost, changeColumns, measureChanges } from "./changes.ts";
import { format, median } from "./figures.ts";
import { BOTH_CPUS, Peer, quiet, tell, type Usage } from "./peer.ts";

const STREAMS = 1_000;

/** Servers that use all cores, and one that does not. */
const subjects = ["one process", "1 worker", "2 workers", "linear", "snapshot"] as const;
type DividedServer = (typeof subjects)[number];

const names: Readonly<Record<DividedServer, string>> = {
  "one process": "xdskit, one process",
  "1 worker": "xdskit, 1 worker",
  "2 workers": "xdskit, 2 workers",
  linear: "go-control-plane, linear cache",
  snapshot: "go-control-plane, snapshot cache",
};

/** One run; each stream has its own connection. */
interface WorkersMeasurement {
  readonly subject: DividedServer;
  readonly firstSyncMs: number;
  readonly changes: ChangesCost;
  /** Of each process of the server, with all streams in sync. */
  readonly processes: readonly Usage[];
}

/**
 * Measures all servers in turn. Server and load client share all cores: with workers there is none left for the client
 * alone.
 */
export async function measureWorkers(runs: number, tools: string, isLong: boolean): Promise<string> {
  const rows: string[] = [];
  for (const resources of isLong ? [100, 10_000] : [100]) {
    const all: WorkersMeasurement[] = [];
    for (let run = 0; run < runs; run++) {
      for (const subject of subjects) {
        process.stderr.write(`${resources} x ${STREAMS}: ${names[subject]}, run ${run + 1} of ${runs}\n`);
        all.push(await measureSubject(subject, resources, tools));
      }
    }
    for (const subject of subjects) {
      const own = all.filter((one) => one.subject === subject);
      const columns = [
        `${resources.toLocaleString("en")} x ${STREAMS.toLocaleString("en")} delta`,
        names[subject],
        format(median(own.map((one) => one.firstSyncMs))),
        ...changeColumns(own.map((one) => one.changes)),
        own
          .at(-1)
          ?.processes.map(({ residentMb }) => format(residentMb))
          .join(" + "),
      ];
      rows.push(`| ${columns.join(" | ")} |`);
    }
  }
  return [
    `| resources x streams | server, on both cores | first sync, ms | ${CHANGE_COLUMNS.join(" | ")} | MB of each process |`,
    `|${" --- |".repeat(CHANGE_COLUMNS.length + 4)}`,
    ...rows,
  ].join("\n");
}

async function measureSubject(subject: DividedServer, resources: number, tools: string): Promise<WorkersMeasurement> {
  await using server = startServer(subject, resources, tools);
  const { address, admin } = await server.hears("listening");
  await server.hears("ready");
  if (admin !== undefined) await whenWorkersServe(String(admin));
  const load = ["-address", String(address), "-streams", String(STREAMS), "-variant", "delta"];
  await using client = new Peer(`${tools}/load`, load, BOTH_CPUS);
  const first = await tell(client, "connect", "synced");
  await quiet(server);
  const changes = await measureChanges(server, client);
  return { subject, firstSyncMs: Number(first["ms"]), changes, processes: server.usages() };
}

function startServer(subject: DividedServer, resources: number, tools: string): Peer {
  if (subject === "linear" || subject === "snapshot")
    return new Peer(`${tools}/gcp`, ["-resources", String(resources), "-cache", subject], BOTH_CPUS);
  const program = fileURLToPath(new URL("./served-by-xdskit.js", import.meta.url));
  const workers = subject === "one process" ? [] : ["--workers", subject === "1 worker" ? "1" : "2"];
  return new Peer(process.execPath, [program, String(resources), ...workers], BOTH_CPUS);
}

async function whenWorkersServe(admin: string): Promise<void> {
  for (;;) {
    const { workers } = (await (await fetch(`http://${admin}/api/v1/server`)).json()) as ServerAnswer;
    if (workers?.every(({ state }) => state === "ready") === true) return;
    await elapsed(50);
  }
}
