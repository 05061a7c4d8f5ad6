import { typeKindTable } from "../../resource/type-kinds.ts";
import type { View } from "../../state/view.ts";
import type { TypeStream } from "../type/type-stream.ts";

/** A stream, as far as the order of things on it and its siblings goes. */
export interface OrderedStream {
  readonly view: View;
  readonly isAggregated: boolean;
}

/** The types that one order holds for, by the part that they have in it, each with the stream that it is asked for on. */
export class OrderMembers {
  readonly clusters: Map<TypeStream, OrderedStream> = new Map();
  /** What may use Clusters: Listeners, routes, and the like. */
  readonly users: Map<TypeStream, OrderedStream> = new Map();
  readonly endpoints: Map<TypeStream, OrderedStream> = new Map();
  readonly secrets: Map<TypeStream, OrderedStream> = new Map();

  /** A type was asked for on one of the streams. */
  join(type: TypeStream, stream: OrderedStream): void {
    const { kind } = type.traits;
    if (kind === "cds") this.clusters.set(type, stream);
    else if (kind === "eds") this.endpoints.set(type, stream);
    else if (kind === "sds") this.secrets.set(type, stream);
    else if (typeKindTable[kind].usesClusters) this.users.set(type, stream);
  }

  /** The stream of that type is closed. */
  leave(type: TypeStream): void {
    for (const part of [this.clusters, this.users, this.endpoints, this.secrets]) part.delete(type);
  }
}
