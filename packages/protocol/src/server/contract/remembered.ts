import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";

/**
 * A record that a server keeps for the server after it, so that clients which reconnect in the middle of a change lose
 * nothing (architecture.md 3, a reconnect is part of the order). Of resources only Clusters are remembered, never Secrets.
 */
export type Remembered =
  /** Clusters of a layer changed at a revision. */
  | {
      readonly kind: "changed";
      readonly revision: number;
      readonly type: TypeUrl;
      readonly layer: string;
      readonly puts: readonly Resource[];
      readonly deletes: readonly string[];
    }
  /** A client with these layers was sent Clusters in State of the World under this version. */
  | {
      readonly kind: "served";
      readonly revision: number;
      readonly type: TypeUrl;
      readonly layers: readonly string[];
      readonly version: string;
      /** Deleted Clusters that the response still listed. */
      readonly pendingRemovals: readonly Resource[];
    }
  /** A node gets its Clusters from another source, or on a per-type stream from here, or it is not known (any more). */
  | {
      readonly kind: "clusters-elsewhere";
      readonly node: string;
      readonly isElsewhere: boolean;
      readonly isHere?: true;
    };
