import type { DialectOverrides } from "../dialect/dialect.ts";
import type { Edition } from "../dialect/presets.ts";
import type { Placement } from "../node/placement.ts";
import type { Resource } from "../resource/resource.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Digest } from "../resource/version.ts";
import type { PlaneEffect } from "./effect.ts";
import type { PlaneEvent } from "./event.ts";
import type { StreamState } from "./inspect.ts";

export interface PlaneOptions {
  readonly digest: Digest;
  /** What is known about a type; undefined for a type nobody described. */
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  readonly placement: Placement;
  readonly edition?: Edition;
  /** Switched for every stream. */
  readonly dialect?: DialectOverrides;
  /** A stream whose first request has no node is refused (S-NOD-06). */
  readonly requireNode?: boolean;
  /** Distinct subscriptions (names) per stream, over all types; beyond it the stream ends with RESOURCE_EXHAUSTED. */
  readonly maxSubscriptionsPerStream?: number;
}

/** Every stream and every view: an event in, effects out; then turns of streams, a budget at a time. */
export class Plane {
  constructor(_options: PlaneOptions) {
    throw new Error("not yet");
  }

  /** Takes an event. What it has to say to clients waits for `next`. */
  on(_event: PlaneEvent): readonly PlaneEffect[] {
    return [];
  }

  /** The turns of at most `budget` streams, each made from the newest state. */
  next(_budget: number): readonly PlaneEffect[] {
    return [];
  }

  /** A stream waits for its turn. */
  get isDue(): boolean {
    return false;
  }

  /** The number of the newest transaction that changed anything. */
  get revision(): number {
    return 0;
  }

  /** Every stream as it stands. */
  streams(): Iterable<StreamState> {
    return [];
  }

  /** Every layer with the types and the number of resources it holds. */
  layers(): Iterable<LayerState> {
    return [];
  }

  /** The resources of a type that a view of these layers holds, top-most holder first. */
  *resources(_layers: readonly string[], _type: TypeUrl): Iterable<Resource> {}
}

/** One layer as it stands. */
export interface LayerState {
  readonly name: string;
  readonly types: ReadonlyMap<
    TypeUrl,
    { readonly resources: number; readonly version: string; readonly changedAt: number }
  >;
}
