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
}

export type AppendResult =
  | { readonly kind: "appended"; readonly head: LedgerHead }
  /** Another writer was first; nothing was appended. */
  | { readonly kind: "conflict"; readonly head: LedgerHead }
  /** The disk is full, the store is read-only, the engine is away: nothing was appended. */
  | { readonly kind: "unavailable"; readonly reason: string };

/** What stays of the records up to a snapshot, and of the bodies that came with them. */
export interface Kept {
  /** All records after this number but live ones are among those that stay. */
  readonly completeAfter: number;
  readonly records: ReadonlySet<number>;
  readonly bodies: ReadonlySet<string>;
}

/**
 * A ledger's records and bodies. Everything that was answered is durable. Every implementation passes the same contract
 * suite.
 */
export interface LedgerStore {
  /** Random, made with the ledger: a store with another epoch is another ledger. */
  readonly epoch: string;
  readonly head: LedgerHead;
  /** The past is complete after this number, but for live records. */
  readonly completeAfter: number;
  /** The newest snapshot; undefined: there is none. */
  snapshot(): Promise<StoredSnapshot | undefined>;
  /** The records with numbers above `after` that are kept, in order, up to the head at the time of the call. */
  read(after: number): AsyncIterable<StoredRecord>;
  /** Undefined: the store does not have it (any more). */
  body(digest: string): Promise<Uint8Array | undefined>;
  append(expected: LedgerHead, appended: Appended): Promise<AppendResult>;
  /**
   * Replaces the records up to the snapshot by it. Of these records only those with a number in `keep.records` stay;
   * of the bodies that came with them those in `keep.bodies` do, and others may go.
   */
  compact(snapshot: StoredSnapshot, keep: Kept): Promise<void>;
  /** Resolves when the head moves past the number, or the signal aborts. */
  whenPast(number: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
