import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { format, median } from "./figures.ts";

const RECORDS = 1_000_000;
const RESOURCES = 10_000;
const OPENINGS = 5;
/** A plain limit: what leaks reaches it. */
const HEAP_MB = 256;
/** How long opening may take, and by how much memory may have grown between a fifth of the changes and all of them. */
const MOST_MS = 2_000;
const MOST_GROWTH = 1.1;

interface Told {
  readonly event: string;
  readonly changes: number;
  readonly number: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly heap: number;
  readonly resident: number;
}

/**
 * Makes a ledger of a million records in a real directory, and opens it again. Says what was found as a Markdown table;
 * `isGood`: it was open in time, and memory was flat.
 */
export async function measureLedgerSize(
  said: (text: string) => void,
): Promise<{ readonly text: string; readonly isGood: boolean }> {
  const directory = mkdtempSync(join(tmpdir(), "xds-ledger-size-"));
  try {
    said(`${RECORDS.toLocaleString("en")} live changes of ${RESOURCES.toLocaleString("en")} resources`);
    const filled = await run(["fill", directory, RECORDS, RESOURCES], (one) =>
      said(`  ${one.changes.toLocaleString("en")}: heap ${format(one.heap)} MB, resident ${format(one.resident)} MB`),
    );
    const onDisk = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    const opened: Told[] = [];
    for (let i = 0; i < OPENINGS; i++) opened.push(...(await run(["open", directory])));
    const ms = median(opened.map((one) => one.ms));
    const cpuMs = median(opened.map((one) => one.cpuMs));
    const [early, late] = [filled[1]?.heap ?? Number.NaN, filled.at(-1)?.heap ?? Number.NaN];
    const isWhole = opened.every(({ number }) => number >= RECORDS) && opened.length === OPENINGS;
    const isGood = isWhole && Math.min(ms, cpuMs) < MOST_MS && late <= early * MOST_GROWTH;
    const figures = [ms, cpuMs, early, late, onDisk / 2 ** 20].map(format);
    const text = [
      "| records | resources | opened, ms | processor time for it, ms | heap after 200,000 live changes, MB | after 1,000,000, MB | on disk, MB |",
      "| --- | --- | --- | --- | --- | --- | --- |",
      `| ${[RECORDS, RESOURCES].map((count) => count.toLocaleString("en")).join(" | ")} | ${figures.join(" | ")} |`,
    ].join("\n");
    return { text, isGood };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Runs a process with little memory, and collects what it says. */
async function run(args: readonly (string | number)[], hear = (_: Told): void => undefined): Promise<readonly Told[]> {
  const script = fileURLToPath(new URL("./ledger-by-xdskit.js", import.meta.url));
  const flags = ["--expose-gc", `--max-old-space-size=${HEAP_MB}`];
  const child = spawn(process.execPath, [...flags, script, ...args.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const told: Told[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const one = JSON.parse(line) as Told;
    told.push(one);
    hear(one);
  }
  if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
  if (child.exitCode !== 0) throw new Error(`the process ended with ${child.exitCode ?? child.signalCode}`);
  return told;
}
