import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";

/**
 * What a server has to know of the one before it, so that clients which come back in the middle of a change lose nothing
 * (architecture.md 3, a reconnect is part of the order). Only Clusters are remembered, never Secrets.
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
  /** A client of a view was sent a State of the World under this version. */
  | {
      readonly kind: "served";
      readonly revision: number;
      readonly type: TypeUrl;
      readonly layers: readonly string[];
      readonly version: string;
      /** What it held beside the view: Clusters that were gone. */
      readonly pendingRemovals: readonly Resource[];
    };
