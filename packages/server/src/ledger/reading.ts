import type { Resource } from "@xdskit/protocol";
import { type Digest, type EntryChange, type LedgerRecord, LedgerState } from "@xdskit/protocol/internal";
import { decodeBody } from "./body.ts";
import { headOf, NO_RECORDS } from "./chain.ts";
import { parseRecord } from "./parse-record.ts";
import type { LedgerHead, LedgerStore } from "./store.ts";

/** Bodies that are read at a time. */
const READ_AT_ONCE = 64;

/** What a ledger came to. */
export interface ReadLedger {
  readonly state: LedgerState;
  /** Of the newest record that is in the state. */
  readonly head: LedgerHead;
  /** Why the records after it are not. */
  readonly problem?: string;
}

/** Who is told of a ledger while it is read. */
export interface LedgerListener {
  /** Of the newest snapshot, if there is one. */
  onSnapshot?(state: LedgerState): void;
  /** Of each record behind it, and what that puts in force. */
  onRecord(record: LedgerRecord, changes: readonly EntryChange[]): void;
}

/** Reads what a ledger came to, up to a record that cannot follow the others. */
export async function readLedgerUpTo(store: LedgerStore, listener?: LedgerListener): Promise<ReadLedger> {
  const snapshot = await store.snapshot();
  let head = snapshot?.head ?? NO_RECORDS;
  const state = snapshot === undefined ? LedgerState.empty() : LedgerState.fromSnapshot(JSON.parse(snapshot.text));
  if (snapshot !== undefined) listener?.onSnapshot?.(state);
  for await (const stored of store.read(head.number)) {
    const record = parseRecord(stored);
    const folded = state.apply(record);
    if (!folded.applied) {
      const problem = `record ${stored.number} of the ledger cannot be understood: ${folded.reason}`;
      return { state, head, problem };
    }
    head = headOf(stored);
    listener?.onRecord(record, folded.effect.changes);
  }
  return { state, head };
}

/** Reads what a ledger came to, as `readLedgerUpTo`. Throws if it has a record that cannot follow the others. */
export async function readLedger(store: LedgerStore, listener?: LedgerListener): Promise<Omit<ReadLedger, "problem">> {
  const { problem, ...read } = await readLedgerUpTo(store, listener);
  if (problem !== undefined) throw new Error(problem);
  return read;
}

/** The resources that come with these changes; those without a body, or whose body is lost, are missing. */
export async function resourcesOf(
  changes: readonly EntryChange[],
  store: LedgerStore,
  digest: Digest,
): Promise<ReadonlyMap<EntryChange, Resource>> {
  const resources = new Map<EntryChange, Resource>();
  const kept = changes.filter(({ after }) => after?.body !== undefined);
  for (let from = 0; from < kept.length; from += READ_AT_ONCE) {
    const some = kept.slice(from, from + READ_AT_ONCE);
    const read = await Promise.all(some.map(({ after }) => store.body(after?.body ?? "")));
    for (const [index, change] of some.entries()) {
      const bytes = read[index];
      const resource = bytes && decodeBody(bytes, digest);
      if (resource !== undefined) resources.set(change, resource);
    }
  }
  return resources;
}
