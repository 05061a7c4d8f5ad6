import type { MetricReading } from "../observe/metric-readings.ts";
import type { WorkerQuestions } from "./messages.ts";
import type { WorkerDescription } from "./pool.ts";
import type { AnswerOf, AskedOf, WorkerAnswersOf } from "./questions.ts";

/** The worker processes of a server, as its admin API asks them. */
export interface Workers {
  /** Whether any of them serves clients. */
  readonly isReady: boolean;
  describe(): readonly WorkerDescription[];
  /** The metrics of each worker that serves, and the counters of those that ended. */
  readMetrics(): Promise<readonly (readonly MetricReading[])[]>;
  /** Asks all workers that serve; one that ends meanwhile is left out. */
  ask<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
  ): Promise<WorkerAnswersOf<AnswerOf<WorkerQuestions, K>>>;
  /** The answers that `ask` got, without the numbers of the workers. */
  askAll<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
  ): Promise<readonly AnswerOf<WorkerQuestions, K>[]>;
  /** The answers that `ask` got. */
  askEach<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
  ): Promise<WorkerAnswersOf<AnswerOf<WorkerQuestions, K>>["answers"]>;
}
