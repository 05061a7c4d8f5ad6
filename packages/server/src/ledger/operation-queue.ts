import type { LedgerState } from "@xdskit/protocol/internal";
import type { ResourceChanges } from "./entries.ts";
import type { OperationPlan } from "./operation-plan.ts";
import type { PublishResult } from "./publication.ts";

/** Most operations that are taken together. */
const LARGEST_GROUP = 256;
/** The pause after a group is this many times what it took, so that groups take a fifth of the time. */
const PAUSE_PER_COST = 4;
/** The longest pause, in milliseconds. */
const LONGEST_PAUSE_MS = 10;
/** Shorter pauses are not worth a timer, in milliseconds. */
const SHORTEST_PAUSE_MS = 1;

/** Something to be recorded, and how its caller learns what became of it. */
export interface Operation {
  readonly plan: (state: LedgerState) => OperationPlan | Promise<OperationPlan>;
  /** What of it is sent although it cannot be recorded. */
  readonly live?: (() => ResourceChanges | Promise<ResourceChanges>) | undefined;
  readonly settle: (result: PublishResult) => void;
  readonly fail: (cause: unknown) => void;
}

/** A monotonic clock in milliseconds. */
export interface QueueClock {
  now(): number;
  pause(ms: number): Promise<void>;
}

const systemClock: QueueClock = {
  now: () => performance.now(),
  pause: async (ms) => {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, ms);
    });
  },
};

/**
 * The operations of a ledger, one group after the other: those that come while one is taken are the next one. If any
 * do, they come fast, and the next group begins after a pause in which more of them gather. What comes in answer to a
 * group does not count, so a program that awaits each operation never waits for a pause.
 */
export class OperationQueue {
  readonly #take: (operations: readonly Operation[]) => Promise<void>;
  readonly #clock: QueueClock;
  readonly #waiting: Operation[] = [];
  readonly #looks: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;
  /** Whether any came before the first of the group was answered; undefined: none is answered yet. */
  #cameMeanwhile: boolean | undefined;

  /** `take`: takes a group, and answers each of it; those that are not answered when it throws fail. */
  constructor(take: (operations: readonly Operation[]) => Promise<void>, clock: QueueClock = systemClock) {
    this.#take = take;
    this.#clock = clock;
  }

  add(plan: Operation["plan"], live?: Operation["live"]): Promise<PublishResult> {
    return new Promise((resolve, fail) => {
      if (this.#isClosed) {
        resolve({ kind: "refused", reason: "the server is closed" });
        return;
      }
      const settle = (result: PublishResult): void => {
        this.#cameMeanwhile ??= this.#waiting.length > 0;
        resolve(result);
      };
      this.#waiting.push({ plan, live, settle, fail });
      this.#running ??= this.#run();
    });
  }

  /** Calls `look` between two groups, when the state is whole. */
  look<T>(look: () => Promise<T>): Promise<T> {
    return new Promise((settle, fail) => {
      this.#looks.push(() => look().then(settle, fail));
      this.#running ??= this.#run();
    });
  }

  /** Refuses operations from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Operations of the same turn go together.
    await Promise.resolve();
    while (this.#waiting.length + this.#looks.length > 0) {
      const operations = this.#waiting.splice(0, LARGEST_GROUP);
      const tookMs = operations.length > 0 ? await this.#timed(operations) : 0;
      for (const look of this.#looks.splice(0)) await look();
      if (this.#cameMeanwhile === true) await this.#gather(tookMs);
    }
    this.#running = undefined;
  }

  async #timed(operations: readonly Operation[]): Promise<number> {
    const startedAt = this.#clock.now();
    this.#cameMeanwhile = undefined;
    try {
      await this.#take(operations);
    } catch (cause) {
      for (const { fail } of operations) fail(cause);
    }
    return this.#clock.now() - startedAt;
  }

  async #gather(tookMs: number): Promise<void> {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, tookMs * PAUSE_PER_COST);
    if (pauseMs >= SHORTEST_PAUSE_MS && this.#waiting.length < LARGEST_GROUP) await this.#clock.pause(pauseMs);
  }
}
