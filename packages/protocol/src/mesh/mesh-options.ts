import type { HeldResource } from "../client/held.ts";
import type { SourceId } from "../client/source.ts";
import type { TypeKind } from "../resource/type-kinds.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Dependency } from "./dependency.ts";

/** What a mesh needs to know of resources, and how it behaves. */
export interface MeshOptions {
  readonly kindOf: (type: TypeUrl) => TypeKind;
  /** Returns what a client has to fetch for a resource. Called once per resource. */
  readonly dependenciesOf: (resource: HeldResource) => readonly Dependency[];
  /** Returns the type that an extension config configures (C-ECD-04); undefined if unknown. */
  readonly configuredTypeOf: (resource: HeldResource) => TypeUrl | undefined;
  /**
   * Returns the source of a dependency of a resource from source `from`; undefined if there is none. Not called for
   * `parent`.
   */
  readonly sourceOf: (dependency: Dependency, from: SourceId) => SourceId | undefined;
  /**
   * Whether referenced Clusters are watched one by one (the non-proxy mode of C-SUB-21). False if all Clusters are a
   * root.
   */
  readonly followsClusters: boolean;
  /** Whether one stream carries all types of that source, and so keeps their order; separate streams do not. */
  readonly isAggregated: (source: SourceId) => boolean;
  /**
   * How a changed Cluster treats its previous endpoints if one stream carries both (C-WRM-04): it waits for new ones and,
   * if none come in time, uses the previous (`on`) or none (`off`); or it uses the previous without waiting, as gRPC
   * clients do (`at-once`). On separate streams it never waits.
   */
  readonly edsCacheOf: (source: SourceId) => "on" | "off" | "at-once";
  /** Whether a removed resource of that source stays in use while something refers to it (C-DEL-09). */
  readonly childRemovalOf: (source: SourceId) => "retain" | "drop";
}
