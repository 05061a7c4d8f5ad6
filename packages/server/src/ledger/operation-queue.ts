import type { LedgerState } from "@xdskit/protocol/internal";
import type { ResourceChanges } from "./entries.ts";
import type { OperationPlan } from "./operation-plan.ts";
import type { PublishResult } from "./publication.ts";

/** Most operations that are taken together. */
const LARGEST_GROUP = 256;

/** Something to be recorded, and how its caller learns what became of it. */
export interface Operation {
  readonly plan: (state: LedgerState) => OperationPlan | Promise<OperationPlan>;
  /** What of it is sent although it cannot be recorded. */
  readonly live?: (() => ResourceChanges | Promise<ResourceChanges>) | undefined;
  readonly settle: (result: PublishResult) => void;
  readonly fail: (cause: unknown) => void;
}

/** The operations of a ledger, one group after the other: those that come while one is taken are the next one. */
export class OperationQueue {
  readonly #take: (operations: readonly Operation[]) => Promise<void>;
  readonly #waiting: Operation[] = [];
  readonly #looks: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** `take`: takes a group; must not throw. */
  constructor(take: (operations: readonly Operation[]) => Promise<void>) {
    this.#take = take;
  }

  add(plan: Operation["plan"], live?: Operation["live"]): Promise<PublishResult> {
    return new Promise((settle, fail) => {
      if (this.#isClosed) {
        settle({ kind: "refused", reason: "the server is closed" });
        return;
      }
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
      if (operations.length > 0) await this.#take(operations);
      for (const look of this.#looks.splice(0)) await look();
    }
    this.#running = undefined;
  }
}
