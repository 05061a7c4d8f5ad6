import { createHash } from "node:crypto";
import type { LedgerHead, StoredRecord } from "./store.ts";

/** The head of a ledger without records. */
export const NO_RECORDS: LedgerHead = { number: 0, id: "" };

/** The record with this text after that head. */
export function recordAfter(head: LedgerHead, text: string): StoredRecord {
  return { number: head.number + 1, id: createHash("sha256").update(`${head.id}\n${text}`).digest("hex"), text };
}

/** The records with these texts after that head. Throws if a text has more than one line. */
export function recordsAfter(head: LedgerHead, texts: readonly string[]): readonly StoredRecord[] {
  let last = head;
  return texts.map((text) => {
    if (text.includes("\n")) throw new TypeError("expected the text of a record in one line, got more");
    const record = recordAfter(last, text);
    last = record;
    return record;
  });
}

export function isSameHead(a: LedgerHead, b: LedgerHead): boolean {
  return a.number === b.number && a.id === b.id;
}

export function headOf({ number, id }: LedgerHead): LedgerHead {
  return { number, id };
}
