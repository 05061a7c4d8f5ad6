import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Measurement, measurementsVariable } from "./measure.ts";

/** Collects the measurements of the scenarios and prints them as one table at the end. */
export function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-measured-"));
  const file = join(directory, "rows.jsonl");
  writeFileSync(file, "");
  process.env[measurementsVariable] = file;
  return () => {
    const rows = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    process.stdout.write(formatTable(rows.map((row) => JSON.parse(row) as Measurement)));
    rmSync(directory, { recursive: true, force: true });
  };
}

function formatTable(rows: readonly Measurement[]): string {
  const cells = [
    ["scenario", "client", "measured", "value"],
    ...rows.map((row) => [row.scenario, row.client, row.measured, row.value]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `\n${lines.join("\n")}\n`;
}
