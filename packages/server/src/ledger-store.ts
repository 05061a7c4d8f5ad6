// What another implementation of a ledger's store is made of.
export { headOf, isSameHead, NO_RECORDS, recordsAfter } from "./ledger/chain.ts";
export { HeadWaiters } from "./ledger/head-waiters.ts";
export type { HeldLease, LedgerLease } from "./ledger/lease.ts";
export type {
  Appended,
  AppendResult,
  Kept,
  LedgerHead,
  LedgerStore,
  StoreCopyState,
  StoredRecord,
  StoredSnapshot,
  StoreMembers,
  StoreOutage,
  WholeLedger,
} from "./ledger/store.ts";
