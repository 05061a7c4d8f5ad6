import type { AccessRules } from "../access/access-rules.ts";
import type { ClientRule } from "../dialect/client-rules.ts";
import type { NodeMatch } from "../node/node-match.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/** The digest of a stored body: of everything that a resource is, its version included. */
export type BodyId = string;

/** What stands at a place of the published state: a resource's version, and the body from which it is made again. */
export interface Entry {
  readonly version: string;
  /** Undefined: the body is not kept, because it holds a secret. */
  readonly body: BodyId | undefined;
  /** Of the resource's message, in bytes; fuses compare sums of it. */
  readonly size: number;
  /** Set on the endpoints of a cluster that has none. */
  readonly isEmpty?: true;
}

/** A place of the published state. */
export interface EntryPlace {
  readonly layer: string;
  readonly type: TypeUrl;
  /** For a variant its key: the name with the constraints. */
  readonly name: string;
}

/** A change of one entry; at least one of `before` and `after` is set. */
export interface EntryChange extends EntryPlace {
  /** Undefined: it is new. */
  readonly before: Entry | undefined;
  /** Undefined: it is deleted. */
  readonly after: Entry | undefined;
}

/** Which nodes are in which group. */
export interface GroupMembers {
  readonly name: string;
  readonly match: NodeMatch;
}

/** What decides beside resources what a node gets, as data. */
export interface Placement {
  readonly groups: readonly GroupMembers[];
  readonly clients: readonly ClientRule[];
  /** Undefined: the defaults. */
  readonly access: AccessRules | undefined;
}

/** Where a published state came from. */
export interface PublishOrigin {
  /** What published it, such as `directory` or `api`: the recorded writer of its layers. */
  readonly writer: string;
  /** A digest of the source's content. */
  readonly digest?: string;
  readonly git?: { readonly commit: string; readonly isDirty: boolean };
}

interface RecordBase {
  /** From 1, without gaps: revisions and decisions share one order. */
  readonly number: number;
  /** When it was appended, in milliseconds since 1970. */
  readonly time: number;
  readonly author?: string;
  readonly message?: string;
}

/** A change of the published state. */
export interface RevisionRecord extends RecordBase {
  readonly kind: "revision";
  readonly origin: PublishOrigin;
  /** Those of the first one of a ledger have live data among them. */
  readonly changes: readonly EntryChange[];
  /** The whole new placement; undefined: unchanged. */
  readonly placement?: Placement;
}

/** A change of live data only (EDS, LEDS, SDS), which is compacted and never rolled back. */
export interface LiveRecord extends RecordBase {
  readonly kind: "live";
  readonly origin: PublishOrigin;
  readonly changes: readonly EntryChange[];
}

/** Why a fuse holds a change. */
export interface FuseTrip {
  /** Such as `resources-removed` or `nodes-moved`. */
  readonly fuse: string;
  readonly layer?: string;
  readonly type?: TypeUrl;
  /** In plain English, with the figures. */
  readonly message: string;
}

/** A change that a fuse stopped. It is not in force until it is approved; a newer one takes its place. */
export interface HeldRecord extends RecordBase {
  readonly kind: "held";
  readonly origin: PublishOrigin;
  readonly changes: readonly EntryChange[];
  readonly placement?: Placement;
  readonly trips: readonly FuseTrip[];
}

/**
 * The endpoints that became empty at this writer, and are held back each by itself. It replaces what was told of the
 * writer before; how long an entry has been held back counts from the first record that has it.
 */
export interface EmptiedRecord extends RecordBase {
  readonly kind: "emptied";
  readonly origin: PublishOrigin;
  readonly changes: readonly EntryChange[];
}

/** Puts the held change `of` in force, or the emptied endpoints of the record `of`. */
export interface ApprovedRecord extends RecordBase {
  readonly kind: "approved";
  readonly of: number;
  /** Set if it is of emptied endpoints, which are live data. */
  readonly isLive?: true;
}

/** Drops the held change `of`: an operator rejected it. */
export interface RejectedRecord extends RecordBase {
  readonly kind: "rejected";
  readonly of: number;
}

/** Drops the held change `of`: its source has again what is in force. */
export interface WithdrawnRecord extends RecordBase {
  readonly kind: "withdrawn";
  readonly of: number;
}

/** An entry, or its absence, that must not be published again. */
export interface Pin extends EntryPlace {
  /** Undefined: the deletion is what must not come back. */
  readonly version: string | undefined;
}

/** Brings the state of the number `to` back; of live data only what was deleted since and is needed again. */
export interface RolledBackRecord extends RecordBase {
  readonly kind: "rolled-back";
  readonly to: number;
  readonly changes: readonly EntryChange[];
  readonly placement?: Placement;
  /** A publish that has one of these is held until that entry changes or is unpinned. */
  readonly pins: readonly Pin[];
}

/** Allows again what a rollback pinned. */
export interface UnpinnedRecord extends RecordBase {
  readonly kind: "unpinned";
  readonly pins: readonly Pin[];
  /** The placement that was taken back, too. */
  readonly placement?: true;
}

/** A record of the ledger. */
export type LedgerRecord =
  | RevisionRecord
  | LiveRecord
  | HeldRecord
  | EmptiedRecord
  | ApprovedRecord
  | RejectedRecord
  | WithdrawnRecord
  | RolledBackRecord
  | UnpinnedRecord;
