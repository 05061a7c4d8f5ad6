import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectoryLedger } from "../../src/ledger/directory-store.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { describeLedgerStore } from "./support/describe-ledger-store.ts";

describeLedgerStore("openDirectoryLedger", async () => {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-ledger-"));
  let current: LedgerStore;
  const open = async (): Promise<LedgerStore> => {
    current = await openDirectoryLedger({ directory });
    return current;
  };
  return {
    store: await open(),
    reopen: open,
    async end() {
      await current.close();
      rmSync(directory, { recursive: true });
    },
  };
});
