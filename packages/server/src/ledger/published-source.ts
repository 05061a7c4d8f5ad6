import type { LedgerRecord } from "@xdskit/protocol/internal";
import { HistoryUnreadable, type LedgerHistory } from "./history.ts";
import type { StateInForce } from "./in-force.ts";
import type { OperationPlan } from "./operation-plan.ts";
import type { ChangePlan } from "./plan.ts";
import type { Publication } from "./publication.ts";

const STANDBY = "this server is on standby, without the lease to publish them";

export interface PublishedSourceOptions {
  readonly inForce: Pick<StateInForce, "number" | "held">;
  readonly history: LedgerHistory;
  /** What it would do to publish that now; only while it is looked. */
  readonly preview: (source: Publication) => Promise<ChangePlan>;
  /** Calls `look` between two operations, when the state is whole. */
  readonly look: <T>(look: () => Promise<T>) => Promise<T>;
}

/** What a source published last, and how that differs from what is in force. */
export class PublishedSource {
  readonly #options: PublishedSourceOptions;
  #last: Publication | undefined;
  /** The last one was not published, because this process may not. */
  #isOnStandby = false;
  /** The last one, if it is known to be in force. */
  #inForce: Publication | undefined;
  /** How many records there were upon which the difference may be another one. */
  #recordCount = 0;
  #difference:
    | { readonly source: Publication; readonly upon: number; readonly told: Promise<string | undefined> }
    | undefined;

  constructor(options: PublishedSourceOptions) {
    this.#options = options;
  }

  /** A source publishes this by that plan. Returns the plan with which it is known whether it came in force. */
  follow(source: Publication, plan: OperationPlan): OperationPlan {
    this.#last = source;
    this.#isOnStandby = false;
    return {
      ...plan,
      result: (number, revision) => {
        const result = plan.result(number, revision);
        if (result.kind === "applied" || result.kind === "unchanged") this.#inForce = source;
        return result;
      },
    };
  }

  /** A source has this, which this process may not publish. */
  standBy(source: Publication): void {
    this.#last = source;
    this.#isOnStandby = true;
  }

  /**
   * After a record that is not of live data, what is in force may be something else than what the source has; after one of
   * live data too, if another process publishes that.
   */
  note({ kind }: LedgerRecord): void {
    if (kind === "live" && !this.#isOnStandby) return;
    this.#recordCount++;
    this.#inForce = undefined;
  }

  /** How what was published last differs from what is in force, and since when; undefined: it does not. */
  async difference(): Promise<string | undefined> {
    const { inForce, look } = this.#options;
    const source = this.#last;
    if (source === undefined || source === this.#inForce || inForce.held !== undefined) return undefined;
    if (this.#difference?.source !== source || this.#difference.upon !== this.#recordCount) {
      const told = look(() => this.#describe(source));
      this.#difference = { source, upon: this.#recordCount, told };
    }
    try {
      return await this.#difference.told;
    } catch (cause) {
      if (!(cause instanceof HistoryUnreadable)) throw cause;
      this.#difference = undefined;
      return `it is unknown whether the files differ from what is in force: ${cause.message}`;
    }
  }

  async #describe(source: Publication): Promise<string | undefined> {
    const { inForce, history, preview } = this.#options;
    const { result } = await preview(source);
    if (result === "unchanged") return undefined;
    if (this.#isOnStandby) return `the files differ from what is in force: ${STANDBY}`;
    const isWanted = ({ kind }: LedgerRecord): boolean => kind === "rolled-back" || kind === "rejected";
    const [decision] = await history.newest({ before: inForce.number + 1, limit: 1, isWanted });
    const by = decision && ` (${decision.kind === "rejected" ? "rejected" : "rolled back"} by ${decision.number})`;
    return `the files differ from what is in force${by ?? ""}`;
  }
}
