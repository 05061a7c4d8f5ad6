import type { EmptiedEntry, EntryPlace, LedgerState } from "@xdskit/protocol/internal";
import type { EmptiedFuse } from "./emptied-fuse.ts";
import type { HeldContent } from "./held-content.ts";
import type { HeldLease } from "./lease.ts";
import { applied, type NewRecord, type OperationPlan, unchanged } from "./operation-plan.ts";

/** The longest delay of a timer, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;
/** After how long what is due is tried again, in milliseconds: another process may publish, or the store be away. */
const AGAIN_MS = 5_000;

/** Endpoints that became empty, and are held back. */
export interface HeldEndpoint extends EntryPlace {
  /** Of the record by which it is approved. */
  readonly number: number;
  /** When it is in force unless something else comes. */
  readonly until: Date;
}

export interface HeldEndpointsOptions {
  readonly emptied: Pick<EmptiedFuse, "dueIn" | "endOf">;
  readonly content: Pick<HeldContent, "of">;
  readonly mayPublish?: (() => HeldLease | boolean) | undefined;
  /** Runs the operation that puts in force what is due. */
  readonly release: (plan: (state: LedgerState) => Promise<OperationPlan>) => void;
}

/** The endpoints that are held back because they became empty; puts them in force when their time is over. */
export class HeldEndpoints {
  readonly #options: HeldEndpointsOptions;
  #list: readonly HeldEndpoint[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerAt: number | undefined;

  constructor(options: HeldEndpointsOptions) {
    this.#options = options;
  }

  get list(): readonly HeldEndpoint[] {
    return this.#list;
  }

  /** Takes in what is held back now. */
  follow({ emptied }: Pick<LedgerState, "emptied">): void {
    if (emptied.length === 0 && this.#list.length === 0) return;
    this.#list = emptied.map((entry) => this.#describe(entry));
    let next = Number.POSITIVE_INFINITY;
    for (const { until } of this.#list) next = Math.min(next, until.getTime());
    if (Number.isFinite(next)) this.#wake(Math.max(next - Date.now(), this.#timerAt === next ? AGAIN_MS : 0), next);
    else this.close();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = undefined;
  }

  #wake(ms: number, at: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timerAt = at;
        // Unless what is held back changes: it may not be recorded.
        this.#wake(AGAIN_MS, at);
        this.#options.release((state) => this.#release(state));
      },
      Math.min(ms, LONGEST_MS),
    ).unref();
  }

  async #release(state: LedgerState): Promise<OperationPlan> {
    const { emptied, content, mayPublish } = this.#options;
    const allowed = mayPublish?.() ?? true;
    const due = allowed === false ? [] : emptied.dueIn(state);
    const resources = await content.of(due.map(({ change }) => change));
    const changes = [...resources.keys()];
    if (changes.length === 0) return unchanged;
    const records: NewRecord[] = [...new Set(due.map(({ writer }) => writer))].map((writer) => ({
      kind: "live",
      origin: { writer },
      changes: due.flatMap(({ writer: by, change }) => (by === writer && resources.has(change) ? [change] : [])),
      message: "these endpoints stayed empty",
    }));
    return {
      records,
      resources: resources.values(),
      effect: { changes: { changes, resources }, placement: undefined },
      ...(allowed !== true && allowed !== false && { lease: allowed }),
      result: applied,
    };
  }

  #describe(entry: EmptiedEntry): HeldEndpoint {
    const { layer, type, name } = entry.change;
    return { layer, type, name, number: entry.number, until: new Date(this.#options.emptied.endOf(entry)) };
  }
}
