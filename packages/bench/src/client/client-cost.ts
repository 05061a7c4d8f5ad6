import { type ClientCell, type ClientSubject, clientCells } from "./cells.ts";
import { clientTable } from "./client-table.ts";
import { type ClientMeasurement, measureClient } from "./measure-client.ts";

/** What to measure, and how often. */
export interface ClientCostOptions {
  readonly cells?: readonly ClientCell[];
  readonly isLong: boolean;
  readonly runs: number;
  /** Changes per run. */
  readonly rounds: number;
  /** The directory of the Go programs. */
  readonly tools: string;
  readonly said: (text: string) => unknown;
}

/** Measures clients, cell by cell and alternating; yields a table for each finished cell. */
export async function* measureClients(options: ClientCostOptions): AsyncGenerator<string> {
  const { cells = clientCells, isLong, runs } = options;
  for (const cell of cells.filter((one) => isLong || !one.isLong)) {
    const measurements: ClientMeasurement[] = [];
    for (let run = 0; run < runs; run++) {
      // Reverses the order in every second run.
      for (const subject of run % 2 === 0 ? cell.subjects : cell.subjects.toReversed()) {
        const measured = await tryOne(cell, subject, options, run);
        if (measured !== undefined) measurements.push(measured);
      }
    }
    yield clientTable(
      cell,
      cell.subjects.flatMap((subject) => measurements.filter((one) => one.subject === subject)),
    );
  }
}

async function tryOne(
  cell: ClientCell,
  subject: ClientSubject,
  { tools, said, runs, rounds }: ClientCostOptions,
  run: number,
): Promise<ClientMeasurement | undefined> {
  said(`${cell.clusters} ${cell.asks} ${cell.variant}: ${subject}, run ${run + 1} of ${runs}\n`);
  try {
    return await measureClient(cell, subject, { rounds, tools });
  } catch (cause) {
    said(`  failed: ${cause instanceof Error ? cause.message : String(cause)}\n`);
    return undefined;
  }
}
