import { type LedgerExport, type LedgerProgress, readLedgerExport, writeLedgerExport } from "./export-file.ts";
import type { AppendResult, LedgerHead, LedgerStore } from "./store.ts";
import { wholeOf } from "./whole-ledger.ts";

/** An export, and what of the ledger could not be in it. */
export interface ExportedLedger extends LedgerExport {
  /** How many bodies records name that the store does not have. */
  readonly absent: number;
}

/**
 * Writes all that a store has as one file: the records, their bodies and the snapshot, as the store keeps them. Content that
 * the store does not keep, such as that of Secrets, is not in it. `write` resolves when it can take more. Rejects if the
 * ledger is compacted meanwhile.
 */
export async function exportLedger(
  store: LedgerStore,
  write: (bytes: Uint8Array) => Promise<void>,
  onProgress?: (progress: LedgerProgress) => void,
): Promise<ExportedLedger> {
  const ledger = await wholeOf(store);
  const written = await writeLedgerExport(ledger, write, onProgress);
  const { absent } = ledger;
  const snapshot = absent === 0 ? ledger.snapshot : await store.snapshot();
  if (snapshot?.head.number !== ledger.snapshot?.head.number)
    throw new Error("the ledger was compacted while it was read: repeat it");
  return { ...written, absent };
}

export type ImportResult =
  | ({ readonly kind: "imported" } & LedgerExport)
  /** The store has records, and is as it was. */
  | { readonly kind: "not-empty"; readonly head: LedgerHead }
  | Extract<AppendResult, { readonly kind: "conflict" | "unavailable" }>;

export interface ImportOptions {
  /** Whether what the store has is replaced. @default false */
  readonly isReplacing?: boolean;
  readonly onProgress?: (progress: LedgerProgress) => void;
}

/**
 * Puts an exported ledger into a store, with the same numbers and ids. The file is read as a whole before anything is
 * written; rejects, with the reason, if it cannot be used, and then the store is as it was. A function is called to open
 * the store once the file was read; the caller closes the store.
 */
export async function importLedger(
  to: LedgerStore | (() => Promise<LedgerStore>),
  path: string,
  { isReplacing = false, onProgress }: ImportOptions = {},
): Promise<ImportResult> {
  const { ledger, close, ...counts } = await readLedgerExport(path, onProgress);
  try {
    const store = typeof to === "function" ? await to() : to;
    const head = (await store.refresh?.()) ?? store.head;
    if (head.number > 0 && !isReplacing) return { kind: "not-empty", head };
    const cleared = head.number === 0 ? undefined : await store.clear(head);
    if (cleared !== undefined && cleared.kind !== "appended") return refused(cleared);
    const begun = await store.begin(ledger);
    return begun.kind === "appended" ? { kind: "imported", ...counts } : refused(begun);
  } finally {
    await close();
  }
}

function refused(result: Exclude<AppendResult, { readonly kind: "appended" }>): ImportResult {
  if (result.kind === "lease-lost") return { kind: "unavailable", reason: "the store asks for a lease" };
  return result;
}
