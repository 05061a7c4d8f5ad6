import type {
  AccessFunction,
  AccessRules,
  Node,
  NodeMappingFunction,
  NodeMappingRejection,
  Peer,
  Resource,
  TypeUrl,
} from "@xdskit/protocol";
import {
  type AccessClaim,
  type AccessGrant,
  type AccessRefusal,
  type AccessVerdict,
  type AskedResource,
  type DiscoveryRequest,
  isVisible,
  type LayerState,
  type PlacedStream,
  type Remembered,
  type ResourceState,
  type ServerMachine,
  type StreamId,
  type StreamState,
  wholeGrant,
} from "@xdskit/protocol/internal";
import type { ApiVersionConverter } from "./api-version-converter.ts";
import type { ConnectionLimits, LimitUse } from "./connection-limits.ts";
import type { ConversionFindings } from "./port.ts";
import type { Backlog, StreamRegistry } from "./stream-registry.ts";

/** The parts of a hub that can be read. */
export interface HubViewParts {
  readonly machine: ServerMachine;
  readonly connectionLimits: ConnectionLimits;
  readonly streams: StreamRegistry;
  readonly converter: ApiVersionConverter | undefined;
}

/** What one node may see. */
export interface NodeView {
  /** Top-most first. */
  readonly layers: readonly string[];
  /** Whether its access covers a resource. */
  sees(layer: string, type: TypeUrl, name: string): boolean;
}

/** Read-only view of a hub, computed on access. */
export class HubView {
  readonly #parts: HubViewParts;

  constructor(parts: HubViewParts) {
    this.#parts = parts;
  }

  get connections(): number {
    return this.#parts.connectionLimits.connections;
  }

  /** Number of open streams. */
  get openStreams(): number {
    return this.#parts.connectionLimits.streams;
  }

  get backlog(): Backlog {
    return this.#parts.streams.backlog;
  }

  streams(): Iterable<StreamState> {
    return this.#parts.machine.streams();
  }

  /** As `streams`, without what they subscribe to, and without those whose node is not known. */
  placedStreams(): Iterable<PlacedStream> {
    return this.#parts.machine.placedStreams();
  }

  /** The node of a stream; undefined: no request has named it yet. */
  nodeOf(stream: StreamId): Node | undefined {
    return this.#parts.machine.nodeOf(stream);
  }

  streamState(stream: StreamId): StreamState | undefined {
    return this.#parts.machine.streamState(stream);
  }

  resourceStates(stream: StreamId): Iterable<ResourceState> {
    return this.#parts.machine.resourceStates(stream);
  }

  layers(): Iterable<LayerState> {
    return this.#parts.machine.layers();
  }

  /** Resources, and resource errors that stand in place of some. */
  *resources(layers: readonly string[], type: TypeUrl): Iterable<Resource> {
    yield* this.#parts.machine.resources(layers, type);
    yield* this.#parts.machine.resourceErrors(layers, type);
  }

  /** Fields that conversion to the other API version could not express. */
  conversionFindings(): ReadonlyMap<string, ConversionFindings> {
    return this.#parts.converter?.findings ?? new Map();
  }

  /** The clusters to record for the next run. */
  clusters(): Iterable<Remembered> {
    return this.#parts.machine.remembered();
  }

  limits(): readonly LimitUse[] {
    return this.#parts.connectionLimits.describe();
  }

  /** The resources of a type that a client may have by a way; empty if it may not be the node. */
  visibleTo(claim: AccessClaim & { readonly node: Node }, type: TypeUrl): Iterable<Resource> {
    const layers = this.layersOf(claim.node, claim.peer);
    if ("refused" in layers) return [];
    const grant = this.#parts.machine.access.grant(claim, layers);
    return "denied" in grant ? [] : this.#parts.machine.resources(layers, type, grant);
  }

  /**
   * What a caller may have of a node's layers. `ofPeer`: the peer that the node connects from, where the caller is
   * another one.
   */
  grantOf(claim: AccessClaim, ofPeer: Peer = claim.peer): AccessGrant | AccessRefusal {
    const layers = claim.node === undefined ? [] : this.layersOf(claim.node, ofPeer);
    if ("refused" in layers) return { denied: layers.refused };
    return this.#parts.machine.access.grant(claim, layers);
  }

  /** Who may have what; undefined: the defaults. */
  get accessRules(): AccessRules | AccessFunction | undefined {
    return this.#parts.machine.access.rules;
  }

  /** Why a caller may come in, or have a type or a resource of it, or why not. */
  explainAccess(claim: AccessClaim, asked: AskedResource | undefined): AccessVerdict {
    const layers = claim.node === undefined ? [] : this.layersOf(claim.node, claim.peer);
    if ("refused" in layers)
      return { isAllowed: false, reason: `the node mapping refuses the node: ${layers.refused}` };
    return this.#parts.machine.access.explain(claim, layers, asked);
  }

  /** The layer of a node that holds this very resource. */
  layerHolding(layers: readonly string[], resource: Resource): string | undefined {
    const { type, name } = resource;
    return layers.find((layer) => this.#parts.machine.holder(layer, type, name) === resource);
  }

  /** The layers of a node, or why the node mapping rejects it. */
  layersOf(node: Node, peer: Peer): ReturnType<NodeMappingFunction> {
    return this.#parts.machine.layersOf(node, peer);
  }

  /** What a node may see, or why the node mapping or its access rejects it. */
  nodeView(node: Node, peer: Peer): NodeView | NodeMappingRejection {
    return this.#viewOf({ entryPoint: "ads", peer, node });
  }

  /** Whether a client may have a resource of a layer, by a way in; nothing if it may not be the node. */
  seenBy(claim: AccessClaim & { readonly node: Node }): NodeView["sees"] {
    const view = this.#viewOf(claim);
    if ("refused" in view) return () => false;
    const layers = new Set(view.layers);
    return (layer, type, name) => layers.has(layer) && view.sees(layer, type, name);
  }

  /**
   * Whether what a client says it has of a type is of states that are in force here, or were lately; so also of a client
   * that is sent nothing.
   */
  knows(claim: AccessClaim & { readonly node: Node }, type: TypeUrl, request: DiscoveryRequest): boolean {
    const placed = this.#place(claim);
    return "refused" in placed || this.#parts.machine.knows(placed.layers, type, request, placed.grant);
  }

  #viewOf(claim: AccessClaim & { readonly node: Node }): NodeView | NodeMappingRejection {
    const placed = this.#place(claim);
    if ("refused" in placed) return placed;
    const { layers, grant } = placed;
    return {
      layers,
      sees: (layer, type, name) => isVisible(grant, layer, { type, name }),
    };
  }

  #place(
    claim: AccessClaim & { readonly node: Node },
  ): { readonly layers: readonly string[]; readonly grant: AccessGrant } | NodeMappingRejection {
    const { node, peer } = claim;
    const layers = this.layersOf(node, peer);
    if ("refused" in layers) return layers;
    const grant = peer.isInProcess === true ? wholeGrant : this.#parts.machine.access.grant(claim, layers);
    return "denied" in grant ? { refused: grant.denied } : { layers, grant };
  }
}
