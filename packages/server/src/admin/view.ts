import type { Node, NodeMappingRejection, Peer, Resource, TypeUrl } from "@xdskit/protocol";
import type {
  AccessClaim,
  AccessVerdict,
  AskedResource,
  LayerState,
  StreamState,
  TypeKind,
} from "@xdskit/protocol/internal";
import type { Deployments } from "../hub/deployments.ts";
import type { ConversionFindings } from "../hub/port.ts";
import type { Gauges } from "../observe/gauges.ts";
import type { SourceStatus } from "../observe/source-status.ts";
import type { AccessRulesAnswer } from "./answers/access.ts";

/** The data of the admin API, read anew on every request; nothing is cached. */
export interface AdminView extends Gauges {
  readonly version: string;
  /** `control_plane.identifier` of the responses (K1). */
  readonly controlPlane: string;
  readonly startedAt: Date;
  /** `host:port` where xDS is served; undefined before the start. */
  address(): string | undefined;
  source(): SourceStatus;
  /** Looks at the source now; resolves once what it has is in force, or its errors are known. Undefined: no source. */
  readonly refreshSource: (() => Promise<void>) | undefined;
  /** Who has which revision. */
  readonly deployments: Deployments;
  /**
   * Every open stream. May be iterated over several turns of the event loop: streams that open or end meanwhile may be
   * missing, all others appear once.
   */
  streams(): Iterable<StreamState>;
  layers(): Iterable<LayerState>;
  /**
   * The resources and resource errors of a type in a view of these layers, one per name. May be iterated like
   * `streams`.
   */
  resources(layers: readonly string[], type: TypeUrl): Iterable<Resource>;
  /** The layers of a node, or why the node mapping rejects it. */
  place(node: Node, peer: Peer): readonly string[] | NodeMappingRejection;
  accessRules(): AccessRulesAnswer;
  /** What the access rules in force say to a caller. */
  explainAccess(claim: AccessClaim, asked: AskedResource | undefined): AccessVerdict;
  conversionFindings(): ReadonlyMap<unknown, ConversionFindings>;
  readonly types: ResourceTypes;
}

/** Resource types, as the admin API needs them; `EnvoyApi` is one. */
export interface ResourceTypes {
  readonly types: readonly {
    readonly type: TypeUrl;
    readonly kind: TypeKind;
    readonly shortName: string;
    readonly v2Twin?: TypeUrl;
  }[];
  /** Finds a type by a short name, a message name or a type URL. */
  typeNamed(text: string): TypeUrl | undefined;
  /** Whether such a resource can be decoded, and so redacted. */
  knows(type: TypeUrl): boolean;
  /** Canonical JSON; `redact` replaces secrets. Throws on malformed bytes. */
  toJson(type: TypeUrl, bytes: Uint8Array, options: { readonly redact: boolean }): unknown;
}
