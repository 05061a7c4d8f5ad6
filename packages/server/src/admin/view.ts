import type { Node, NodeMappingRejection, Peer, Resource, TypeUrl } from "@xdskit/protocol";
import type {
  AccessClaim,
  AccessVerdict,
  AskedResource,
  LayerState,
  PlacedStream,
  ResourceState,
  StreamId,
  StreamState,
  TypeKind,
} from "@xdskit/protocol/internal";
import type { Deployments } from "../hub/deployments.ts";
import type { NodeView } from "../hub/hub-view.ts";
import type { ConversionFindings } from "../hub/port.ts";
import type { NodePastRecorder } from "../ledger/node-past-recorder.ts";
import type { KnownReplicas, ReplicaState } from "../ledger/replicas.ts";
import type { Fleet } from "../observe/fleet.ts";
import type { Gauges } from "../observe/gauges.ts";
import type { SourceStatus } from "../observe/source-status.ts";
import type { PlacesOf } from "../source-places.ts";
import type { Workers } from "../workers/workers.ts";
import type { AdminRole } from "./access.ts";
import type { AccessRulesAnswer } from "./answers/access.ts";

/** The data of the admin API, read anew on every request; nothing is cached. */
export interface AdminView extends Gauges {
  readonly version: string;
  /** `control_plane.identifier` of the responses. */
  readonly controlPlane: string;
  readonly startedAt: Date;
  /** `host:port` where xDS is served; undefined before the start. */
  address(): string | undefined;
  source(): SourceStatus;
  /** Looks at the source now; resolves once what it has is in force, or its errors are known. Undefined: no source. */
  readonly refreshSource: (() => Promise<void>) | undefined;
  /** Finds where resources are in the source. Undefined: that is not known. */
  readonly placesOf: PlacesOf | undefined;
  /** The number of the newest change that is in force; without a ledger, the newest revision. */
  head(): number;
  /** The newest number of the ledger, whatever it is of; without a ledger, the newest revision. */
  newest(): number;
  /** The revision of the server that a number is; undefined if that is not known any more. */
  revisionOf(number: number): number | undefined;
  /** The newest number of the ledger at a revision; without a ledger the revision. */
  numberOf(revision: number): number;
  /** The number of the newest change that is in force at a revision; without a ledger the revision. */
  changeOf(revision: number): number;
  /** What each node had and NACKed. */
  readonly nodePast: Pick<NodePastRecorder, "of">;
  /** The servers of the store, and this one. Undefined: there is no ledger. */
  readonly replicas: { list(): Promise<KnownReplicas>; own(): Promise<ReplicaState> } | undefined;
  /** Why the ledger is kept in memory only, although the options say where; undefined: it is not. */
  inMemoryReason(): string | undefined;
  /** Puts in force the CAs and revocation lists that are held under an id. Returns whether they were held. */
  approveTrust(id: string): Promise<boolean>;
  /** Who has which revision. */
  readonly deployments: Deployments;
  /**
   * Every open stream. May be iterated over several turns of the event loop: streams that open or end meanwhile may be
   * missing, all others appear once.
   */
  streams(): Iterable<StreamState>;
  /** The streams of the nodes that are known, in this process and its workers. */
  placedStreams(): Iterable<PlacedStream>;
  /** The state of one stream or poller; undefined if there is none. */
  streamState(stream: StreamId): StreamState | undefined;
  /** The resources that a stream subscribes to, with their states. */
  resourceStates(stream: StreamId): Iterable<ResourceState>;
  /** The connected nodes by id. */
  readonly fleet: Fleet;
  layers(): Iterable<LayerState>;
  /**
   * The resources and resource errors of a type in a view of these layers, one per name. May be iterated like
   * `streams`.
   */
  resources(layers: readonly string[], type: TypeUrl): Iterable<Resource>;
  /** What a node may see, or why the node mapping or its access rejects it. */
  nodeView(node: Node, peer: Peer): NodeView | NodeMappingRejection;
  /** The layers of a node, or why the node mapping rejects it. */
  place(node: Node, peer: Peer): readonly string[] | NodeMappingRejection;
  accessRules(): AccessRulesAnswer;
  /** The role that a caller with such identities has at the admin port; undefined: none. */
  adminRole(identities: readonly string[]): AdminRole | undefined;
  /** What the access rules in force say to a caller. */
  explainAccess(claim: AccessClaim, asked: AskedResource | undefined): AccessVerdict;
  conversionFindings(): ReadonlyMap<unknown, ConversionFindings>;
  readonly types: ResourceTypes;
  /** The processes that serve the clients; undefined: this one does. */
  readonly workers: Workers | undefined;
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
  toJson(
    type: TypeUrl,
    bytes: Uint8Array,
    options: { readonly redact: boolean; readonly names?: "json" | "proto" },
  ): unknown;
}
