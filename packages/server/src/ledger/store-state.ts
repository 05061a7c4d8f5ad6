import type { ReaderStop } from "./ledger-reader.ts";
import type { LedgerRole } from "./source-role.ts";
import type { StoreCopyState, StoreOutage } from "./store.ts";

/** How a server stands to the store that it shares with others. */
export interface StoreState {
  readonly role: LedgerRole;
  /** When the role began. */
  readonly roleSince: Date;
  /** The newest record that this server has seen in the store. */
  readonly head: number;
  /** How many records of the store are not in force here yet. */
  readonly lag: number;
  /** Since when there are such records; undefined: there are none. */
  readonly lagSince: Date | undefined;
  /** Undefined: the engine is there. */
  readonly outage: StoreOutage | undefined;
  /** Undefined: no copy of it is kept. */
  readonly copy: StoreCopyState | undefined;
  /** Why nothing of the store is applied any more; undefined: it is. */
  readonly stop: ReaderStop | undefined;
}
