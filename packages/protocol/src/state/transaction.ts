import type { AccessRules } from "../access/access-rules.ts";
import type { ClientChoice } from "../dialect/choice.ts";
import type { ClientRule } from "../dialect/client-rules.ts";
import type { NodeMapping } from "../node/node-mapping.ts";
import type { Constraints } from "../resource/constraints.ts";
import type { Resource } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/** A resource to delete from a layer. */
export interface Deletion {
  readonly type: TypeUrl;
  readonly name: string;
  /** The variant to delete; undefined: the resource without constraints, or `name` is a variant's key. */
  readonly constraints?: Constraints;
}

/** The changes to one layer. */
export interface LayerChange {
  /** Such as `base`, `group/edge`, `node/edge-7`. A layer exists once it is named. */
  readonly layer: string;
  readonly puts?: readonly Resource[];
  readonly deletes?: readonly Deletion[];
  /**
   * Versions to use in place of the sum of a type's members, even without members; `undefined` restores the sum. A
   * layer exists as long as it has one.
   */
  readonly typeVersions?: ReadonlyMap<TypeUrl, string | undefined>;
  /** Whether State of the World responses of a type are marked as canary from now on (B-MSC-03). */
  readonly canaries?: ReadonlyMap<TypeUrl, boolean>;
}

/** Changes to any number of layers that take effect together, at one revision. */
export interface Transaction {
  readonly changes: readonly LayerChange[];
  /** Used as delta's `system_version_info` from now on, in place of the type version (B-VER-07). */
  readonly systemVersion?: string;
}

/** Everything that may change together, at one revision: no client is served by a part of it. */
export interface Commit extends Transaction {
  /** Replaces the node mapping; every connected node is mapped again. */
  readonly nodeMapping?: NodeMapping;
  /**
   * Replaces the access rules; `default`: those of a server without rules. A connected client that may no longer be its
   * node is ended.
   */
  readonly access?: AccessRules | "default";
  /**
   * Replaces the protocol overrides of single clients; an empty list removes them. Streams that have already sent their
   * node keep theirs.
   */
  readonly clientOverrides?: readonly ClientRule[] | ClientChoice;
}
