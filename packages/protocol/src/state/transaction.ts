import type { Constraints } from "../resource/constraints.ts";
import type { Resource } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/** A resource that a layer no longer holds. */
export interface Deletion {
  readonly type: TypeUrl;
  readonly name: string;
  /** The variant that goes; undefined: what is for everybody, or the name is a variant's key. */
  readonly constraints?: Constraints;
}

/** What changes in one layer. */
export interface LayerChange {
  /** Such as `base`, `group/edge`, `node/edge-7`. A layer exists from the first time it is named. */
  readonly layer: string;
  readonly puts?: readonly Resource[];
  readonly deletes?: readonly Deletion[];
  /**
   * Versions printed for a type instead of the sum of its members, be there members or not; `undefined` goes back to the sum. A
   * layer is kept as long as it has one.
   */
  readonly typeVersions?: ReadonlyMap<TypeUrl, string | undefined>;
  /** Whether State of the World responses of a type are marked as canary from now on (B-MSC-03). */
  readonly canaries?: ReadonlyMap<TypeUrl, boolean>;
}

/** Changes over many layers that take effect whole, at one revision. */
export interface Transaction {
  readonly changes: readonly LayerChange[];
  /** Printed as delta's `system_version_info` from now on, instead of the type version (B-VER-07). */
  readonly systemVersion?: string;
}
