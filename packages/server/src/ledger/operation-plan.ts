import type { Resource } from "@xdskit/protocol";
import type { FuseTrip, LedgerRecord, Placement } from "@xdskit/protocol/internal";
import type { ResourceChanges } from "./entries.ts";
import type { HeldLease } from "./lease.ts";
import type { Authorship, PublishResult } from "./publication.ts";

/** A record without what the ledger gives it. */
export type NewRecord = LedgerRecord extends infer R
  ? R extends LedgerRecord
    ? Omit<R, "number" | "time">
    : never
  : never;

/** What an operation wants to record, and what comes in force by it. */
export interface OperationPlan {
  readonly records: readonly NewRecord[];
  readonly resources: Iterable<Resource>;
  readonly effect?: { readonly changes: ResourceChanges; readonly placement: Placement | undefined };
  /** What of it is sent although it cannot be recorded. */
  readonly live?: () => Promise<ResourceChanges>;
  /** Nothing is recorded unless it is still held then. */
  readonly lease?: HeldLease;
  /** The result, given the number of its last record and the revision. */
  readonly result: (number: number, revision: number) => PublishResult;
}

export const noResourceChanges: ResourceChanges = { changes: [], resources: new Map() };

export const unchanged: OperationPlan = {
  records: [],
  resources: [],
  result: (number, revision) => ({ kind: "unchanged", number, revision }),
};

/** `trips`: the fuses because of which it is refused. */
export function refuse(reason: string, trips: readonly FuseTrip[] = []): OperationPlan {
  const result: PublishResult = { kind: "refused", reason, ...(trips.length > 0 && { trips }) };
  return { records: [], resources: [], result: () => result };
}

export function applied(number: number, revision: number): PublishResult {
  return { kind: "applied", number, revision };
}

export function authorOf({ author, message }: Authorship): Pick<LedgerRecord, "author" | "message"> {
  return { ...(author !== undefined && { author }), ...(message !== undefined && { message }) };
}
