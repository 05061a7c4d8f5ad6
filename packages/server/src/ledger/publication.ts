import type { Deletion, Resource, TypeUrl } from "@xdskit/protocol";
import type { EntryChange, FuseTrip, Placement, PublishOrigin } from "@xdskit/protocol/internal";

/** Who asks for a change, and why. */
export interface Authorship {
  readonly author?: string | undefined;
  readonly message?: string | undefined;
}

/** The changes of one layer. */
export interface PublishedChange {
  readonly layer: string;
  readonly puts?: readonly Resource[];
  readonly deletes?: readonly Deletion[];
}

/** What is to be published: either whole layers or changes, and the placement if it changes. */
export interface Publication extends Authorship {
  /** All resources of all layers: what is missing is deleted. */
  readonly layers?: ReadonlyMap<string, readonly Resource[]>;
  readonly changes?: readonly PublishedChange[];
  /** Undefined: unchanged. */
  readonly placement?: Placement;
  readonly origin: PublishOrigin;
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
    }
  /** It is in force already. */
  | { readonly kind: "unchanged"; readonly number: number; readonly revision: number }
  /** A fuse stopped it: nothing is sent but live data until the record `number` is approved. */
  | { readonly kind: "held"; readonly number: number; readonly trips: readonly FuseTrip[] }
  /** Nothing was recorded, and nothing is sent. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Another process publishes to the store. Nothing was recorded, and nothing is sent. */
  | { readonly kind: "standby"; readonly reason: string }
  /** The engine of the store is away: nothing was recorded, and only live data is sent. */
  | { readonly kind: "unavailable"; readonly reason: string };

/** What an operator can decide. */
export type Decision = "approve" | "reject" | "rollback";

/** What a decision would change if it were made now. */
export type DecisionPlan =
  | {
      readonly kind: "possible";
      /** Empty: nothing would be sent. */
      readonly changes: readonly EntryChange[];
      /** Whether the node mapping, client overrides or access rules change. */
      readonly isPlaced: boolean;
      /** What a rollback cannot bring back. */
      readonly irretrievable: readonly MissingContent[];
      readonly reach: ChangeReach;
    }
  | { readonly kind: "refused"; readonly reason: string };

/** Which of the connected nodes a change concerns. */
export interface ChangeReach {
  readonly nodes: number;
  /** Nodes that see a changed layer and subscribe to a changed type in it, or whose layers or access change. */
  readonly concerned: number;
  /** Nodes whose layers change. */
  readonly moved: number;
  /** Nodes that the node mapping or access rules would not let in any more. */
  readonly cutOff: number;
}

/** A resource in force whose content the ledger does not keep. */
export interface MissingContent {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}
