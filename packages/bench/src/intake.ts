import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { format, median } from "./figures.ts";

/** Microseconds of CPU time for each resource, by step. */
export type IntakeRun = Readonly<Record<string, number>>;

/** Gives 100,000 resources to a server in a fresh process, in each of the ways of the API. */
export async function measureIntake(runs: number): Promise<readonly IntakeRun[]> {
  const program = fileURLToPath(new URL("./intake-by-xdskit.js", import.meta.url));
  return Array.from({ length: runs }, () => {
    const steps = ["set", "commit"].map((way) => JSON.parse(execFileSync(process.execPath, [program, way], ENCODING)));
    return Object.assign({}, ...steps) as IntakeRun;
  });
}

const ENCODING = { encoding: "utf8" } as const;

/** Formats medians as a Markdown table. */
export function intakeTable(runs: readonly IntakeRun[]): string {
  const lines = Object.keys(runs[0] ?? {}).map(
    (step) => `| ${step} | ${format(median(runs.map((run) => run[step] ?? Number.NaN)))} |`,
  );
  return ["| 100,000 resources through the API | CPU a resource, µs |", "| --- | --- |", ...lines].join("\n");
}
