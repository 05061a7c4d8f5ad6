import { typeKindTable } from "../../resource/type-kinds.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { LazyMap } from "../memory/lazy.ts";
import type { TypeStream } from "../type/type-stream.ts";

/** What the order reads of a stream. */
export interface OrderedStream {
  readonly current: CurrentView;
  readonly isAggregated: boolean;
  /** Whether clients of this kind subscribe to all Clusters, and before what uses them. */
  readonly asksForAllClusters: boolean;
}

/** The types in an order by their role, each with the stream that subscribes to it. */
export class OrderMembers {
  readonly clusters: LazyMap<TypeStream, OrderedStream> = new LazyMap();
  /** Types that may use Clusters: Listeners, routes, and the like. */
  readonly users: LazyMap<TypeStream, OrderedStream> = new LazyMap();
  readonly endpoints: LazyMap<TypeStream, OrderedStream> = new LazyMap();
  readonly secrets: LazyMap<TypeStream, OrderedStream> = new LazyMap();
  /** Whether the client ever asked for endpoints here; on a stream of its own it may do so anew for each Cluster. */
  hasAskedForEndpoints = false;

  /** A stream subscribed to a type. */
  join(type: TypeStream, stream: OrderedStream): void {
    const { kind } = type.traits;
    if (kind === "cds") this.clusters.set(type, stream);
    else if (kind === "eds") {
      this.endpoints.set(type, stream);
      this.hasAskedForEndpoints = true;
    } else if (kind === "sds") this.secrets.set(type, stream);
    else if (typeKindTable[kind].usesClusters) this.users.set(type, stream);
  }

  /** What a Listener may name: other users of Clusters, and secrets. */
  *named(): Iterable<readonly [TypeStream, OrderedStream]> {
    yield* this.users;
    yield* this.secrets;
  }

  /** The stream of this type closed. */
  leave(type: TypeStream): void {
    for (const part of [this.clusters, this.users, this.endpoints, this.secrets]) part.delete(type);
  }
}

/** The revision up to which everything of a type is sent. */
export function sentTo(type: TypeStream, current: CurrentView): number {
  // Requested resources, and those of another view, may be of any age; what counts here is the order of changes.
  if (!type.hasNews(current.view)) return current.revision;
  return Math.min(type.position?.revision ?? -1, type.heldBackFrom, current.revision - 1);
}
