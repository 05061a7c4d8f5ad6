import { createHash } from "node:crypto";
import { nextTurn } from "../next-turn.ts";
import type { LedgerHead, StoredRecord } from "./store.ts";
import { piecesOf } from "./text-pieces.ts";

/** The head of a ledger without records. */
export const NO_RECORDS: LedgerHead = { number: 0, id: "" };

/** The record with this text after that head. */
export function recordAfter(head: LedgerHead, text: string): StoredRecord {
  return { number: head.number + 1, id: createHash("sha256").update(`${head.id}\n${text}`).digest("hex"), text };
}

/** The records with these texts after that head. Rejects if a text has more than one line. */
export async function recordsAfter(head: LedgerHead, texts: readonly string[]): Promise<readonly StoredRecord[]> {
  let last = head;
  const records: StoredRecord[] = [];
  for (const text of texts) {
    const hash = createHash("sha256").update(`${last.id}\n`);
    for (const piece of piecesOf(text)) {
      if (piece.includes("\n")) throw new TypeError("expected the text of a record in one line, got more");
      hash.update(piece);
      if (piece.length < text.length) await nextTurn();
    }
    const record = { number: last.number + 1, id: hash.digest("hex"), text };
    records.push(record);
    last = record;
  }
  return records;
}

export function isSameHead(a: LedgerHead, b: LedgerHead): boolean {
  return a.number === b.number && a.id === b.id;
}

export function headOf({ number, id }: LedgerHead): LedgerHead {
  return { number, id };
}
