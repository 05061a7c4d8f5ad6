import type { Deletion, Resource, TypeUrl } from "@xdskit/protocol";
import type { FuseTrip, Placement, PublishOrigin } from "@xdskit/protocol/internal";
import type { MissingContent } from "../hub/missing-resources.ts";

/** When a source noticed a change, and when it read it. */
export interface SourceReading {
  readonly noticedAt: Date;
  /** Later than `noticedAt` where a source waits for further changes. */
  readonly beganAt: Date;
  readonly endedAt: Date;
}

/** Who asks for a change, and why. */
export interface Authorship {
  readonly author?: string | undefined;
  readonly message?: string | undefined;
}

/** How to roll back, by whom and why. */
export interface RollbackOptions extends Authorship {
  /**
   * Rolls back although a fuse would hold the same change.
   * @default false
   */
  readonly isForced?: boolean | undefined;
}

/** The changes of one layer. */
export interface PublishedChange {
  readonly layer: string;
  readonly puts?: readonly Resource[];
  readonly deletes?: readonly Deletion[];
}

/**
 * What is to be published: either whole layers or changes, and the placement if it changes. The program may change its
 * lists and maps afterwards, but for frozen ones, which are not copied.
 */
export interface Publication extends Authorship {
  /** All resources of all layers: what is missing is deleted. */
  readonly layers?: ReadonlyMap<string, readonly Resource[]>;
  readonly changes?: readonly PublishedChange[];
  /** Undefined: unchanged. */
  readonly placement?: Placement;
  readonly origin: PublishOrigin;
  /** When its source noticed the change and read it, for traces. */
  readonly reading?: SourceReading | undefined;
}

/** A publication that stays as it is whatever its program does with its own lists. */
export function ownPublication(publication: Publication): Publication {
  const { layers, changes, placement } = publication;
  return {
    ...publication,
    ...(layers !== undefined && { layers: new Map([...layers].map(([layer, list]) => [layer, ownList(list)])) }),
    ...(changes !== undefined && { changes: changes.map(ownChange) }),
    ...(placement !== undefined && { placement: ownPlacement(placement) }),
  };
}

function ownChange({ layer, puts, deletes }: PublishedChange): PublishedChange {
  return { layer, ...(puts && { puts: ownList(puts) }), ...(deletes && { deletes: ownList(deletes) }) };
}

/** The ledger keeps a placement as JSON. */
function ownPlacement(placement: Placement): Placement {
  return JSON.parse(JSON.stringify(placement)) as Placement;
}

/** A list that is the same object as before is not read again, so one that may change is copied. */
function ownList<T>(list: readonly T[]): readonly T[] {
  return Object.isFrozen(list) ? list : Object.freeze([...list]);
}

/** What became of a publication or a decision. */
export type PublishResult =
  /** It is in force, and is sent. `number` is that of its last record, `revision` that of the server. */
  | {
      readonly kind: "applied";
      readonly number: number;
      readonly revision: number;
      /** Of a rollback: what it could not bring back, because it holds a secret, which the ledger does not keep. */
      readonly irretrievable?: readonly MissingContent[];
      readonly waiting?: readonly WaitingDeletion[];
      readonly emptied?: readonly EmptiedPlace[];
    }
  /** It is in force already. */
  | {
      readonly kind: "unchanged";
      readonly number: number;
      readonly revision: number;
      readonly waiting?: readonly WaitingDeletion[];
      readonly emptied?: readonly EmptiedPlace[];
    }
  /** A fuse stopped it: nothing is sent but live data until the record `number` is approved. */
  | { readonly kind: "held"; readonly number: number; readonly trips: readonly FuseTrip[] }
  /** An operator rejected it by the record `by`: nothing is sent but live data until it differs. */
  | { readonly kind: "rejected"; readonly by: number }
  /** Nothing was recorded, and nothing is sent. `trips`: the fuses that stop a rollback, unless it is forced. */
  | { readonly kind: "refused"; readonly reason: string; readonly trips?: readonly FuseTrip[] }
  /** Another process publishes to the store. Nothing was recorded, and nothing is sent. */
  | { readonly kind: "standby"; readonly reason: string }
  /** The engine of the store is away: nothing was recorded, and only live data is sent. */
  | { readonly kind: "unavailable"; readonly reason: string };

/** What an operator can decide. */
export type Decision = "approve" | "reject" | "rollback";

/**
 * Live data (EDS, LEDS, SDS) that is deleted once nothing in force or held refers to it any more. Not recorded: after a
 * restart it waits again when it is published again.
 */
export interface WaitingDeletion {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}

/** Endpoints that would become empty, and are held back for a limited time. */
export interface EmptiedPlace {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}
