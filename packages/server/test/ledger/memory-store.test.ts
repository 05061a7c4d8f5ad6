import { MemoryLedgerStore } from "../../src/ledger/memory-store.ts";
import { describeLedgerStore } from "./support/describe-ledger-store.ts";

describeLedgerStore("MemoryLedgerStore", () => {
  const store = new MemoryLedgerStore();
  return Promise.resolve({ store, reopen: undefined, end: () => store.close() });
});
