import { appendFileSync } from "node:fs";

/** One row of the table at the end of the run. */
export interface Measurement {
  readonly scenario: string;
  readonly client: string;
  readonly measured: string;
  readonly value: string;
}

/** Where the rows of a run are collected; the global setup names the file. */
export const measurementsVariable = "XDS_E2E_MEASUREMENTS";

/** Notes what a scenario measured. The table of all of them is printed when the run ends. */
export function note(scenario: string, client: string, measured: string, value: string | number): void {
  const file = process.env[measurementsVariable];
  const row: Measurement = { scenario, client, measured, value: String(value) };
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

/** The long form runs more swaps, mutations and repetitions. */
export const isFull: boolean = process.env["XDS_E2E"] === "full";

/** A value for the short and one for the long form. */
export function times<T>(short: T, full: T): T {
  return isFull ? full : short;
}
