import type { LedgerRecord } from "@xdskit/protocol/internal";
import { headOf, recordAfter } from "./chain.ts";
import { parseRecord } from "./parse-record.ts";
import type { LedgerHead, LedgerStore } from "./store.ts";

/** What a store has behind a head. */
export type Behind =
  | { readonly kind: "record"; readonly record: LedgerRecord; readonly head: LedgerHead }
  /** Some of the records are not kept: the state has to be read as a whole. */
  | { readonly kind: "gap" }
  /** The store has another history than that of the head, such as that of a restored backup. */
  | { readonly kind: "other-history"; readonly reason: string };

/** Reads in order what a store has behind a head, and stops at what does not follow. */
export async function* readBehind(store: LedgerStore, from: LedgerHead): AsyncIterable<Behind> {
  const { head } = store;
  const other = otherHistory(head, from);
  if (other !== undefined) {
    yield { kind: "other-history", reason: other };
    return;
  }
  let last = from;
  for await (const stored of store.read(from.number)) {
    if (stored.number !== last.number + 1) {
      yield { kind: "gap" };
      return;
    }
    if (recordAfter(last, stored.text).id !== stored.id) {
      yield {
        kind: "other-history",
        reason: `its record ${stored.number} does not follow the ${last.number} in force`,
      };
      return;
    }
    last = headOf(stored);
    yield { kind: "record", record: parseRecord(stored), head: last };
  }
  if (last.number < head.number) yield { kind: "gap" };
}

/** Why a store whose records from `from` on cannot all be read is no successor; undefined: nothing shows that. */
export async function findOtherHistory(store: LedgerStore, from: LedgerHead): Promise<string | undefined> {
  if (from.number === 0) return undefined;
  for await (const { number, id } of store.read(from.number - 1)) {
    if (number !== from.number || id === from.id) break;
    return `its record ${number} is another than the one in force`;
  }
  return otherHistory(store.head, from);
}

function otherHistory(head: LedgerHead, from: LedgerHead): string | undefined {
  if (head.number < from.number) return `its newest record is ${head.number}, but ${from.number} is in force`;
  if (head.number === from.number && head.id !== from.id)
    return `its record ${head.number} is another than the one in force`;
  return undefined;
}
