import type { HeldResource } from "../client/held.ts";
import type { SourceId } from "../client/source.ts";
import type { TypeKind } from "../resource/type-kinds.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Dependency } from "./dependency.ts";

/** What a mesh has to be told of the resources that it follows, and how it goes about that. */
export interface MeshOptions {
  readonly kindOf: (type: TypeUrl) => TypeKind;
  /** What a client that was given the resource fetches. Called once for each. */
  readonly dependenciesOf: (resource: HeldResource) => readonly Dependency[];
  /** The type of what an extension config configures (C-ECD-04); undefined if it cannot be told. */
  readonly configuredTypeOf: (resource: HeldResource) => TypeUrl | undefined;
  /** Where a dependency of a resource that came from `from` is asked for; undefined: nowhere. Not called for `parent`. */
  readonly sourceOf: (dependency: Dependency, from: SourceId) => SourceId | undefined;
  /**
   * Clusters that are named are watched one by one (the non-proxy mode of C-SUB-21). Off where all of them are a root.
   */
  readonly followsClusters: boolean;
  /**
   * What a Cluster that changed does with endpoints of that source that it had before (C-WRM-04): waits for an answer, and if none comes in
   * time uses them (`on`) or has none (`off`); or uses them without waiting, as gRPC clients do (`at-once`).
   */
  readonly edsCacheOf: (source: SourceId) => "on" | "off" | "at-once";
  /** What becomes of a removed resource of that source that something still refers to (C-DEL-09). */
  readonly childRemovalOf: (source: SourceId) => "retain" | "drop";
}
