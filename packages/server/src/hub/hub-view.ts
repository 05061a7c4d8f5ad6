import type { Node, NodeMapping, Peer, Resource, TypeUrl } from "@xdskit/protocol";
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

/** What a hub is made of, as far as it can be looked at. */
export interface HubViewParts {
  readonly machine: ServerMachine;
  readonly connectionLimits: ConnectionLimits;
  readonly streams: StreamRegistry;
  readonly converter: ApiVersionConverter | undefined;
  readonly layersOf: NodeMapping;
}

/** Everything that can be seen of a hub, read when it is asked for. Looking changes nothing. */
export class HubView {
  readonly #parts: HubViewParts;

  constructor(parts: HubViewParts) {
    this.#parts = parts;
  }

  get connections(): number {
    return this.#parts.connectionLimits.connections;
  }

  /** How many streams are open. */
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

  /** Resources, and the errors that stand in place of some. */
  *resources(layers: readonly string[], type: TypeUrl): Iterable<Resource> {
    yield* this.#parts.machine.resources(layers, type);
    yield* this.#parts.machine.resourceErrors(layers, type);
  }

  /** What could not be expressed in the version of the API that it was converted to. */
  conversionFindings(): ReadonlyMap<string, ConversionFindings> {
    return this.#parts.converter?.findings ?? new Map();
  }

  /** The Clusters that there are, as they would have to be remembered now. */
  clusters(): Iterable<Remembered> {
    return this.#parts.machine.remembered();
  }

  limits(): readonly LimitUse[] {
    return this.#parts.connectionLimits.describe();
  }

  /** The layers that a node would see, or why it would not be served. */
  layersOf(node: Node, peer: Peer): ReturnType<NodeMapping> {
    return this.#parts.layersOf(node, peer);
  }
}
