import { isLedgerFile } from "./contents.ts";
import { createWhole, type LedgerFiles } from "./ledger-files.ts";

/** There is this file while a ledger is discarded or filled: what stands beside it is not whole. */
export const UNFINISHED = "unfinished";

/** Removes all files of a ledger but the mark that it is not whole, which stays. */
export async function discard(files: LedgerFiles): Promise<void> {
  await createWhole(files, UNFINISHED, async () => undefined);
  for (const name of await files.list()) if (isLedgerFile(name)) await files.remove(name);
}

export async function isUnfinished(files: LedgerFiles): Promise<boolean> {
  return (await files.list()).includes(UNFINISHED);
}

/** Removes what a process left that ended while it discarded or filled the ledger. */
export async function finishDiscarding(files: LedgerFiles, onProblem: (message: string) => void): Promise<void> {
  if (!(await isUnfinished(files))) return;
  await discard(files);
  await files.remove(UNFINISHED);
  onProblem("a restore that was not finished was removed; the ledger is empty");
}
