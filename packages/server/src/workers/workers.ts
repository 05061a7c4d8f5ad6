import type { MetricReading } from "../observe/metric-readings.ts";
import type { WorkerQuestions } from "./messages.ts";
import type { WorkerDescription } from "./pool.ts";
import type { AnswerOf, AskedOf } from "./questions.ts";

/** The worker processes of a server, as its admin API asks them. */
export interface Workers {
  /** Whether any of them serves clients. */
  readonly isReady: boolean;
  describe(): readonly WorkerDescription[];
  /** The metrics of each worker that serves, and the counters of those that ended. */
  readMetrics(): Promise<readonly (readonly MetricReading[])[]>;
  /** The answers of all workers that serve, in the order of their numbers; one that ends meanwhile is left out. */
  askAll<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
  ): Promise<readonly AnswerOf<WorkerQuestions, K>[]>;
  /** As `askAll`, with the numbers of the workers. */
  askEach<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
  ): Promise<readonly { readonly worker: number; readonly answer: AnswerOf<WorkerQuestions, K> }[]>;
}
