import type { Node, Peer, Placement, Resource, TypeUrl } from "@xdskit/protocol";
import type { LayerState, Plane, Remembered, ResourceState, StreamId, StreamState } from "@xdskit/protocol/internal";
import type { Census, LimitUse } from "./census.ts";
import type { ConversionFindings } from "./port.ts";
import type { Backlog, StreamDesk } from "./stream-desk.ts";
import type { Twins } from "./twins.ts";

/** What a hub is made of, as far as it can be looked at. */
export interface HubViewParts {
  readonly plane: Plane;
  readonly census: Census;
  readonly streams: StreamDesk;
  readonly twins: Twins | undefined;
  readonly layersOf: Placement;
}

/** Everything that can be seen of a hub, read when it is asked for. Looking changes nothing. */
export class HubView {
  readonly #parts: HubViewParts;

  constructor(parts: HubViewParts) {
    this.#parts = parts;
  }

  get connections(): number {
    return this.#parts.census.connections;
  }

  /** How many streams are open. */
  get openStreams(): number {
    return this.#parts.census.streams;
  }

  get backlog(): Backlog {
    return this.#parts.streams.backlog;
  }

  streams(): Iterable<StreamState> {
    return this.#parts.plane.streams();
  }

  resourceStates(stream: StreamId): Iterable<ResourceState> {
    return this.#parts.plane.resourceStates(stream);
  }

  layers(): Iterable<LayerState> {
    return this.#parts.plane.layers();
  }

  /** Resources, and the errors that stand in place of some. */
  *resources(layers: readonly string[], type: TypeUrl): Iterable<Resource> {
    yield* this.#parts.plane.resources(layers, type);
    yield* this.#parts.plane.resourceErrors(layers, type);
  }

  /** What could not be expressed in the version of the API that it was converted to. */
  conversionFindings(): ReadonlyMap<string, ConversionFindings> {
    return this.#parts.twins?.findings ?? new Map();
  }

  /** The Clusters that there are, as they would have to be remembered now. */
  clusters(): Iterable<Remembered> {
    return this.#parts.plane.remembered();
  }

  limits(): readonly LimitUse[] {
    return this.#parts.census.describe();
  }

  /** The layers that a node would see, or why it would not be served. */
  layersOf(node: Node, peer: Peer): ReturnType<Placement> {
    return this.#parts.layersOf(node, peer);
  }
}
