import type { HeldLease, LedgerLease } from "./lease.ts";

/** The newest record of a ledger. */
export interface LedgerHead {
  /** 0: there is no record. */
  readonly number: number;
  /** A digest of the record's text and the id of the record before: equal ids have an equal past. Empty at number 0. */
  readonly id: string;
}

/** A record as stored; its text is JSON that the store does not read. */
export interface StoredRecord {
  readonly number: number;
  readonly id: string;
  readonly text: string;
}

/** The state at a number, as one text that the store does not read, in place of the records up to there. */
export interface StoredSnapshot {
  readonly head: LedgerHead;
  readonly text: string;
}

/** What an append puts into the ledger, all of it or nothing. */
export interface Appended {
  /** Texts of the new records, each in one line, in order; they get the numbers after `expected`. */
  readonly records: readonly string[];
  /** The bodies that the records name, by digest. Those that the store has are not written again. */
  readonly bodies: ReadonlyMap<string, Uint8Array>;
  /** Nothing is appended unless this lease is still held, checked in one step with `expected`. */
  readonly lease?: HeldLease | undefined;
}

export type AppendResult =
  | { readonly kind: "appended"; readonly head: LedgerHead }
  /** Another writer was first; nothing was appended. */
  | { readonly kind: "conflict"; readonly head: LedgerHead }
  /** The lease of the append is not held any more; nothing was appended. */
  | { readonly kind: "lease-lost" }
  /** The disk is full, the store is read-only, the engine is away: nothing was appended. */
  | { readonly kind: "unavailable"; readonly reason: string };

/** What stays of the records up to a snapshot, and of the bodies that came with them. */
export interface Kept {
  /** All records after this number but live ones are among those that stay. */
  readonly completeAfter: number;
  readonly records: ReadonlySet<number>;
  readonly bodies: ReadonlySet<string>;
}

/** All that a store has of a ledger. */
export interface WholeLedger {
  readonly head: LedgerHead;
  /** Undefined: there is none, and the records are all there ever were. */
  readonly snapshot: StoredSnapshot | undefined;
  /** The past is complete after this number, but for live records. */
  readonly completeAfter: number;
  /** The records that are kept, in order: some of those up to the snapshot, and each after it up to the head. */
  records(): AsyncIterable<StoredRecord>;
  /** What the snapshot and the records name, by digest; one may come twice. */
  bodies(): AsyncIterable<readonly [digest: string, bytes: Uint8Array]>;
}

/** That the engine of a store cannot be reached. */
export interface StoreOutage {
  readonly since: Date;
  readonly reason: string;
}

/** What the processes that share a store tell of themselves. It goes with the process, some seconds after it is gone. */
export interface StoreMembers {
  /** Puts this process's text in place of what it told before. Rejects if the engine is away. */
  announce(id: string, text: string): Promise<void>;
  /** The texts of all processes by their ids. Rejects if the engine is away. */
  list(): Promise<ReadonlyMap<string, string>>;
  /**
   * The same, and for about an hour the last texts of processes that are gone but did not close the store. Rejects if
   * the engine is away. Absent: the engine keeps none.
   */
  listKept?(): Promise<ReadonlyMap<string, string>>;
}

/** The copy of a store's ledger that a server keeps to start from while the engine is away. */
export interface StoreCopyState {
  /** The newest record in it; 0: there is none yet. */
  readonly number: number;
  /** The engine was away when this server started and is so since: what is in force comes from the copy. */
  readonly isInPlace: boolean;
  /** Why it cannot be written; undefined: it can. */
  readonly problem: string | undefined;
}

/**
 * A ledger's records and bodies. Everything that was answered is durable. Every implementation passes the same contract
 * suite.
 */
export interface LedgerStore {
  /** Random, made with the ledger: a store with another epoch is another ledger. */
  readonly epoch: string;
  /** Where several processes write: the newest head that this one has seen. It never goes back. */
  readonly head: LedgerHead;
  /** The past is complete after this number, but for live records. */
  readonly completeAfter: number;
  /** The newest snapshot; undefined: there is none. */
  snapshot(): Promise<StoredSnapshot | undefined>;
  /** The records with numbers above `after` that are kept, in order, up to the head at the time of the call. */
  read(after: number): AsyncIterable<StoredRecord>;
  /** Undefined: the store does not have it (any more). */
  body(digest: string): Promise<Uint8Array | undefined>;
  /** Does not reject: what keeps a store from appending is a result. If it does, the server reads again what it has. */
  append(expected: LedgerHead, appended: Appended): Promise<AppendResult>;
  /**
   * Replaces the records up to the snapshot by it. Of these records only those with a number in `keep.records` stay;
   * of the bodies that came with them those in `keep.bodies` do, and others may go.
   */
  compact(snapshot: StoredSnapshot, keep: Kept): Promise<void>;
  /**
   * Begins with what another store has, if there is no record here: all of it or nothing, with the same numbers and ids.
   * The epoch stays this store's. Rejects if the ledger cannot be read.
   */
  begin(ledger: WholeLedger): Promise<AppendResult>;
  /** Lets go of all records, all bodies and the snapshot, if `expected` is the head. The epoch stays. */
  clear(expected: LedgerHead): Promise<AppendResult>;
  /** Resolves when the head moves past the number, or the signal aborts. */
  whenPast(number: number, signal: AbortSignal): Promise<void>;
  /**
   * Asks the engine for its head: what was appended anywhere before the call is in it, and `head` is at least that
   * then. Rejects if the engine is away. Absent: only this process writes, and `head` is exact.
   */
  refresh?(): Promise<LedgerHead>;
  /** Undefined: the engine is at hand. */
  readonly outage?: StoreOutage | undefined;
  /**
   * Calls the listener whenever `outage` begins or ends, or the head has gone back, until the function it returns is called.
   */
  onOutage?(listener: () => void): () => void;
  /** The lease of that name. Absent: only this process writes, and needs none. */
  lease?(name: string): LedgerLease;
  /** Absent: only this process uses it. Undefined: the engine was not reached yet. */
  readonly members?: StoreMembers | undefined;
  /** Absent: no copy is kept. */
  readonly copy?: StoreCopyState;
  /** Called with the newest record that this process has in force; a copy follows it. */
  putInForce?(head: LedgerHead): void;
  close(): Promise<void>;
}
