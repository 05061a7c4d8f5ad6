import type { Node, NodeMappingRejection, Peer, Resource, TypeUrl } from "@xdskit/protocol";
import type { LayerState, StreamState, TypeKind } from "@xdskit/protocol/internal";
import type { ConversionFindings } from "../hub/port.ts";
import type { Gauges } from "../observe/gauges.ts";
import type { SourceStatus } from "../observe/source-status.ts";

/**
 * What the admin API reads. All of it is asked for anew with every request, so a view keeps nothing and costs nothing
 * until somebody looks.
 */
export interface AdminView extends Gauges {
  readonly version: string;
  /** `control_plane.identifier` of the responses (K1). */
  readonly controlPlane: string;
  readonly startedAt: Date;
  /** `host:port` where xDS is served; undefined before the start. */
  address(): string | undefined;
  source(): SourceStatus;
  /**
   * Every stream as it stands. May be walked over several turns of the event loop: streams that open or end meanwhile may
   * be in it or not, all others are in it once.
   */
  streams(): Iterable<StreamState>;
  layers(): Iterable<LayerState>;
  /** What a view of these layers holds of a type, errors in place of resources too, one holder for each name. May be walked like `streams`. */
  resources(layers: readonly string[], type: TypeUrl): Iterable<Resource>;
  /** The layers that a node would see, or why it would not be served. */
  place(node: Node, peer: Peer): readonly string[] | NodeMappingRejection;
  conversionFindings(): ReadonlyMap<unknown, ConversionFindings>;
  readonly types: ResourceTypes;
}

/** What the admin API has to know about resource types; `EnvoyApi` is one. */
export interface ResourceTypes {
  readonly types: readonly {
    readonly type: TypeUrl;
    readonly kind: TypeKind;
    readonly shortName: string;
    readonly v2Twin?: TypeUrl;
  }[];
  /** Finds a type by a short name, a message name or a type URL. */
  typeNamed(text: string): TypeUrl | undefined;
  /** Whether what is inside such a resource can be read, and so redacted. */
  knows(type: TypeUrl): boolean;
  /** Canonical JSON; `redact` replaces whatever is secret. Throws on bytes that are no such message. */
  toJson(type: TypeUrl, bytes: Uint8Array, options: { readonly redact: boolean }): unknown;
}
