import type { Reference } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderedStream, OrderMembers } from "./order-members.ts";

/** Tells whether a client has what its Clusters need beside endpoints, such as secrets: an Envoy warms them until then. */
export class ClusterNeeds {
  readonly #members: Pick<OrderMembers, "named">;
  readonly #areAwaited: (type: TypeUrl) => boolean;

  constructor(members: Pick<OrderMembers, "named">, areAwaited: (type: TypeUrl) => boolean) {
    this.#members = members;
    this.#areAwaited = areAwaited;
  }

  /**
   * Whether the client has yet to ACK any of these. `isInUse`: the Cluster has a former state, in which the client uses it
   * until it has what the newest state needs, also if that does not exist yet.
   */
  areLacking(references: readonly Reference[], view: View, isInUse: boolean): boolean {
    return references.some((one) => this.#areAwaited(one.type) && this.#isLacking(one, view, isInUse));
  }

  #isLacking({ type, name }: Reference, view: View, isInUse: boolean): boolean {
    const exists = view.find(type, name) !== undefined;
    // What does not exist may come from another server, unless the client gets its like here.
    let isAskedHere = false;
    for (const [named, stream] of this.#members.named()) {
      if (named.traits.type !== type) continue;
      isAskedHere = true;
      if (exists && hasIt(named, stream, name)) return false;
    }
    return exists || (isInUse && isAskedHere);
  }
}

/** Whether a resource was requested on a stream, and ACKed there. */
function hasIt(named: TypeStream, { current }: OrderedStream, name: string): boolean {
  const { subscription, deliveries } = named;
  if (!subscription.isWildcard && !subscription.names.has(name)) return false;
  const isRefused = deliveries.refusedFrom !== Number.POSITIVE_INFINITY;
  return !isRefused && named.isSent(name, current) && !deliveries.mayBring([name]);
}
