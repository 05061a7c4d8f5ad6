import type { EntryChange } from "@xdskit/protocol/internal";
import type { HeldContent } from "./held-content.ts";
import type { StateInForce } from "./in-force.ts";
import type { HeldLease } from "./lease.ts";
import type { LedgerReader, ReaderStop } from "./ledger-reader.ts";
import type { LedgerStore } from "./store.ts";

export interface StoreStatusOptions {
  readonly store: LedgerStore;
  readonly reader: LedgerReader;
  readonly inForce: StateInForce;
  readonly content: HeldContent;
  readonly mayPublish?: (() => HeldLease | boolean) | undefined;
  /** Called if the store cannot be read, or what it has is not applied. */
  readonly onProblem: (message: string) => void;
}

/** Whether the store of a ledger can be asked, and whether what it has is applied. */
export class StoreStatus {
  readonly #options: StoreStatusOptions;
  #told: ReaderStop | undefined;
  #mustAdopt = false;
  /** Why the engine of the store cannot be asked. */
  away: string | undefined;
  /** Why nothing of the store is applied. */
  unapplied: string | undefined;

  constructor(options: StoreStatusOptions) {
    this.#options = options;
  }

  /** The next reading puts in force what the store has, although it is no successor of what is. */
  adopt(): void {
    this.#mustAdopt = true;
  }

  /** Reads what is durable, and notes why that cannot be read, or must not be applied. */
  async read(): Promise<void> {
    const { store, reader, onProblem, mayPublish } = this.#options;
    this.away = store.outage?.reason;
    if (this.away !== undefined) return;
    try {
      if (this.#mustAdopt) await reader.adopt();
      else await reader.catchUp();
      this.#mustAdopt = false;
      if (mayPublish?.() === false) await this.#dropUnrecorded();
    } catch (cause) {
      const reason = `the ledger cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
      onProblem(reason);
      if (store.refresh === undefined) this.unapplied = reason;
      else this.away = reason;
      return;
    }
    const { stop } = reader;
    this.unapplied = stop && describeStop(stop);
    if (stop !== undefined && stop !== this.#told) onProblem(describeStop(stop));
    this.#told = stop;
  }

  /** What flowed while the engine was away gives way to what is recorded, where another process publishes. */
  async #dropUnrecorded(): Promise<void> {
    const { reader, inForce, content } = this.#options;
    const changes = inForce.unrecorded.map((place): EntryChange => {
      const entry = reader.state.entry(place);
      return { ...place, before: entry, after: entry };
    });
    if (changes.length === 0) return;
    await inForce.put({ changes: { changes, resources: await content.of(changes) }, placement: undefined });
  }
}

function describeStop({ why, reason }: ReaderStop): string {
  if (why !== "other-history") return `${reason}; nothing after it is applied`;
  return `the store has another history, and nothing of it is applied until it is adopted: ${reason}`;
}
