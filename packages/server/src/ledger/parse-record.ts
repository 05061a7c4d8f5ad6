import type { LedgerRecord } from "@xdskit/protocol/internal";
import type { StoredRecord } from "./store.ts";

/** The content of a stored record. Throws, and names the record, if it is not one. */
export function parseRecord({ number, text }: Pick<StoredRecord, "number" | "text">): LedgerRecord {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    record = undefined;
  }
  if (typeof record !== "object" || record === null || !("kind" in record) || !("number" in record))
    throw new Error(`record ${number} is damaged: expected a record as JSON`);
  return record as LedgerRecord;
}
