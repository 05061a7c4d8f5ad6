import type { MetricReading } from "../observe/metric-readings.ts";
import { sumCounters } from "../observe/metric-sums.ts";
import { isUnanswered } from "./questions.ts";
import type { Worker } from "./worker.ts";

/** The metrics of the workers. What a worker counted stays when it ends, so that sums over all workers never go down. */
export class WorkerReadings {
  readonly #newest = new Map<Pick<Worker, "ask">, readonly MetricReading[]>();
  #ended: readonly MetricReading[] = [];

  /** Reads the metrics of a worker; if it ends first or does not answer, what it answered before stays. */
  async read(worker: Pick<Worker, "ask">): Promise<void> {
    try {
      this.#newest.set(worker, await worker.ask("metrics", {}));
    } catch (cause) {
      if (!isUnanswered(cause)) throw cause;
    }
  }

  /** Keeps the counters of a worker that ended, and nothing else of it. */
  end(worker: Pick<Worker, "ask">): void {
    this.#ended = sumCounters([...this.#ended, ...(this.#newest.get(worker) ?? [])]);
    this.#newest.delete(worker);
  }

  /** The newest reading of each worker that was read, and the counters of those that ended. */
  get all(): readonly (readonly MetricReading[])[] {
    return [this.#ended, ...this.#newest.values()];
  }
}
