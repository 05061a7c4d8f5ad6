import { appendFileSync } from "node:fs";

/** A row of the table at the end of the run. */
export interface Measurement {
  readonly scenario: string;
  readonly client: string;
  readonly measured: string;
  readonly value: string;
}

/** The variable that names the file of a run's measurements; the global setup sets it. */
export const measurementsVariable = "XDS_E2E_MEASUREMENTS";

/** Records a measurement of a scenario for the table at the end of the run. */
export function note(scenario: string, client: string, measured: string, value: string | number): void {
  const file = process.env[measurementsVariable];
  const row: Measurement = { scenario, client, measured, value: String(value) };
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

/** Whether to run more swaps, mutations and repetitions. */
export const isFull: boolean = process.env["XDS_E2E"] === "full";

/** Chooses between a value for the short and for the full run. */
export function times<T>(short: T, full: T): T {
  return isFull ? full : short;
}
