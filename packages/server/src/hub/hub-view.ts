import type { Node, NodeMappingFunction, Peer, Resource, TypeUrl } from "@xdskit/protocol";
import type {
  LayerState,
  Remembered,
  ResourceState,
  ServerMachine,
  StreamId,
  StreamState,
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

  /** The resources of a type that a client may have; empty if it may not be the node. */
  visibleTo(node: Node, peer: Peer, type: TypeUrl): Iterable<Resource> {
    return this.#parts.machine.visibleTo(node, peer, type);
  }

  /** The layers of a node, or why the node mapping rejects it. */
  layersOf(node: Node, peer: Peer): ReturnType<NodeMappingFunction> {
    return this.#parts.machine.layersOf(node, peer);
  }
}
