import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Cell, cells } from "./cells.ts";
import { churnTable, measureChurn } from "./churn.ts";
import { measureCalls } from "./client/call-cost.ts";
import { measureClients } from "./client/client-cost.ts";
import { positive, readOptions } from "./command-line.ts";
import { conversionTable, measureConversion } from "./conversion.ts";
import { cellName, type DirectoryMeasurement, directoryCells, directoryTable, measureDirectory } from "./directory.ts";
import { measureFleets } from "./fleet/fleet.ts";
import { herdCells, herdTable, measureHerd } from "./herd.ts";
import { intakeTable, measureIntake } from "./intake.ts";
import { ledgerTable, measureLedger } from "./ledger-cost.ts";
import { measureLedgerSize } from "./ledger-size.ts";
import { loadingTable, measureLoading } from "./loading.ts";
import { type Measurement, measure, type Subject } from "./measure.ts";
import { measureMoves } from "./move-cost.ts";
import { measureNames } from "./names-cost.ts";
import { measureOrder, orderTable } from "./order-cost.ts";
import { measurePolls, pollTable } from "./polls.ts";
import { measureReplicaLag } from "./replica-lag.ts";
import { measureStatus } from "./status-cost.ts";
import { table } from "./table.ts";
import { measureWait } from "./wait-cost.ts";
import { measureWorkers } from "./workers-cost.ts";

// Compares xdskit with go-control-plane, cell by cell; with `--before`, a built checkout of an earlier version, with that
// alone. Then measures make before break (`--long --only order`), many changes in a row (`--only churn`), a history on disk
// (`--only ledger`), the server's API (`--only intake`), conversion to v2 (`--only conversion`), REST polls (`--only
// polls`), and `xds serve` on directories (`--only files`). What `parts` names is measured only if it is asked for.

const USAGE = "npm run bench [-- --long] [--runs N] [--only TEXT] [--before DIR]";
const options = readOptions(USAGE, {
  long: { type: "boolean", default: false },
  runs: { type: "string", default: "3" },
  only: { type: "string", default: "" },
  before: { type: "string" },
});
const runs = positive(USAGE, "runs", options.runs);
const { only, before, long: isLong } = options;
const tools = fileURLToPath(new URL("../../../.cache/bench", import.meta.url));

const MOVE_ROUNDS = 5;
const NAME_ROUNDS = 5;
const WAIT_ROUNDS = 500;
const CLIENT_ROUNDS = 5;

const say = (text: string): boolean => process.stderr.write(text);

function buildTools(): void {
  mkdirSync(tools, { recursive: true });
  say("building the load client and the peer\n");
  const sources = fileURLToPath(new URL("../peers", import.meta.url));
  execFileSync("go", ["build", "-o", `${tools}/`, "./..."], { cwd: sources, stdio: "inherit" });
}

async function measureHerds(): Promise<string> {
  const programs = before === undefined ? import.meta.dirname : `${before}/packages/bench/dist`;
  const measured = [];
  for (const cell of herdCells) measured.push(await measureHerd(cell, tools, programs));
  return herdTable(measured);
}

async function measureSize(): Promise<string> {
  const { text, isGood } = await measureLedgerSize((line) => say(`${line}\n`));
  if (!isGood) process.exitCode = 1;
  return text;
}

async function* clientTables(): AsyncGenerator<string> {
  for await (const text of measureClients({ isLong, runs, rounds: CLIENT_ROUNDS, tools, said: say })) yield `${text}\n`;
}

interface Part {
  readonly needsTools: boolean;
  readonly run: () => string | Promise<string> | AsyncIterable<string>;
}

const parts: Readonly<Record<string, Part>> = {
  /** Nodes that move to other layers. */
  moves: { needsTools: false, run: () => measureMoves([1_000, 10_000], MOVE_ROUNDS) },
  /** Changes of much or little of what clients ask for by name. */
  names: { needsTools: false, run: () => measureNames(NAME_ROUNDS) },
  /** ACKs while somebody waits for a revision. */
  wait: { needsTools: false, run: () => measureWait(WAIT_ROUNDS) },
  /** A history of a million records; fails if it is too large or too slow. */
  "ledger-size": { needsTools: false, run: measureSize },
  /** Client status and load reports. */
  status: { needsTools: false, run: measureStatus },
  /** What a client waits while `xds serve` takes in a large file. */
  loading: { needsTools: false, run: async () => loadingTable(await measureLoading(before)) },
  /** Calls of our client. */
  calls: { needsTools: false, run: measureCalls },
  /** Our client beside others. */
  client: { needsTools: true, run: clientTables },
  /** Streams that all come back at once. */
  herd: { needsTools: true, run: measureHerds },
  /** Worker processes, beside go-control-plane on as many cores. */
  workers: { needsTools: true, run: () => measureWorkers(runs, tools, isLong) },
  /** Servers that share an etcd. */
  replicas: { needsTools: true, run: () => measureReplicaLag(tools) },
  /** Fleets of 100,000 and 1,000,000 clients, by simulation from what is measured. */
  fleet: { needsTools: true, run: () => measureFleets(runs, tools) },
};

const part = parts[only];
if (part?.needsTools !== false) buildTools();
if (part !== undefined) {
  const found = await part.run();
  if (typeof found === "string") process.stdout.write(`${found}\n`);
  else for await (const text of found) process.stdout.write(`${text}\n`);
  process.exit();
}

const results: { readonly cell: Cell; readonly measurements: readonly Measurement[] }[] = [];
for (const cell of cells.filter((one) => (isLong || !one.isLong) && one.name.includes(only))) {
  // The `floor` server does not track subscriptions, and knows one stream on a connection.
  const isPlain = cell.byName === undefined && cell.ownLayers !== true && cell.connections === undefined;
  const floor: readonly Subject[] = isPlain ? ["floor"] : [];
  const subjects: readonly Subject[] =
    before === undefined ? [...floor, "xdskit", ...cell.caches] : ["before", "xdskit"];
  const measurements: Measurement[] = [];
  for (let run = 0; run < runs; run++) {
    for (const subject of subjects) {
      process.stderr.write(`${cell.name}: ${subject}, run ${run + 1} of ${runs}\n`);
      try {
        measurements.push(await measure(cell, subject, { tools, before }));
      } catch (cause) {
        process.stderr.write(`  failed: ${cause instanceof Error ? cause.message : String(cause)}\n`);
      }
    }
  }
  results.push({ cell, measurements });
  process.stdout.write(`${table([{ cell, measurements }])}\n`);
}
if (before !== undefined) process.exit();
const ORDER_ROUNDS = 40;
if (isLong && "order".includes(only)) {
  process.stderr.write("make before break on and off, in turn\n");
  process.stdout.write(`\n${orderTable(await measureOrder(ORDER_ROUNDS, tools))}\n`);
}
if ("churn".includes(only)) {
  process.stderr.write("1,000 changes, one after another\n");
  process.stdout.write(`\n${churnTable(await measureChurn(runs, tools))}\n`);
}
if ("ledger".includes(only)) {
  process.stderr.write("a history on disk, and none, in turn\n");
  process.stdout.write(`\n${ledgerTable(await measureLedger(runs, tools))}\n`);
}
if ("intake".includes(only)) {
  process.stderr.write("100,000 resources through the API\n");
  process.stdout.write(`\n${intakeTable(await measureIntake(runs))}\n`);
}
if ("conversion".includes(only)) {
  process.stderr.write("resources of v3 for clients of v2\n");
  process.stdout.write(`\n${conversionTable(await measureConversion())}\n`);
}
const POLL_ROUNDS = 9;
if ("polls".includes(only)) {
  process.stderr.write("polls over REST\n");
  process.stdout.write(`\n${pollTable(await measurePolls(POLL_ROUNDS))}\n`);
}
const directories: DirectoryMeasurement[] = [];
for (const cell of directoryCells.filter((one) => (isLong || !one.isLong) && "files".includes(only))) {
  for (let run = 0; run < runs; run++) {
    process.stderr.write(`100,000 resources, ${cellName(cell)}, run ${run + 1} of ${runs}\n`);
    directories.push(await measureDirectory(cell, tools));
  }
}
process.stdout.write(`\n${table(results)}\n\n${directoryTable(directories)}\n`);
