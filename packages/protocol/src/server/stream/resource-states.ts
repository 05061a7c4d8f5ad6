import type { Status } from "../../message/status.ts";
import type { Resource } from "../../resource/resource.ts";
import { hasSameContent } from "../../resource/ttl.ts";
import type { Delivery } from "../ack/delivery.ts";
import { resourcesIn } from "../ack/nack-history.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { ResourceState, ResourceStatus } from "../contract/inspect.ts";
import type { TypeStream } from "../type/type-stream.ts";

/**
 * The status of each subscribed resource of a type at a client, and of each name without a resource; then of pending
 * removals (S-CSD-02). Lazy: only what is iterated is computed.
 */
export function* resourceStates(type: TypeStream, current: CurrentView): Iterable<ResourceState> {
  const standings = new Standings(type, current);
  const { traits, subscription, pendingRemovals } = type;
  const seen = new Set<string>();
  if (subscription.isWildcard) {
    for (const resource of current.view.members(traits.type)) {
      if (resource.onDemand) continue;
      if (subscription.names.size > 0) seen.add(resource.name);
      yield standings.of(resource);
    }
  }
  for (const term of subscription.names) {
    const answers = current.view.answersTo(traits.type, term);
    if (answers.length === 0) yield standings.ofNone(term);
    for (const resource of answers) {
      if (seen.has(resource.name)) continue;
      seen.add(resource.name);
      yield standings.of(resource);
    }
  }
  for (const [name, { was }] of pendingRemovals.names) {
    if (current.view.holder(traits.type, name) !== undefined) continue;
    yield standings.ofGone(name, was !== undefined && "bytes" in was ? was : undefined);
  }
}

class Standings {
  readonly #type: TypeStream;
  readonly #current: CurrentView;

  constructor(type: TypeStream, current: CurrentView) {
    this.#type = type;
    this.#current = current;
  }

  of(resource: Resource): ResourceState {
    const { name } = resource;
    const isSent = this.#type.isSent(name, this.#current);
    return this.#answered(name, isSent) ?? this.#state(name, isSent ? "acked" : "not-sent", resource, isSent);
  }

  /** The status of a name without a resource in the view. */
  ofNone(name: string): ResourceState {
    const isSent = this.#type.position !== undefined && this.#type.isSent(name, this.#current);
    const answered = this.#answered(name, isSent);
    if (answered !== undefined) return answered;
    const error = this.#current.view.error(this.#type.traits.type, name)?.error;
    if (error !== undefined) return this.#state(name, "received-error", undefined, isSent, undefined, error);
    const held = this.#accepted(name);
    if (held !== undefined) return this.#state(name, "acked", held, isSent);
    return this.#state(name, this.#type.traits.kind === "opaque" ? "unknown" : "does-not-exist", undefined, isSent);
  }

  /** The status of a pending removal. */
  ofGone(name: string, resource: Resource | undefined): ResourceState {
    return this.#answered(name, false) ?? this.#state(name, "acked", resource, false);
  }

  /** The status by the newest response with the name; undefined if it was ACKed, or is not remembered. */
  #answered(name: string, isSent: boolean): ResourceState | undefined {
    const { deliveries } = this.#type;
    const pending = newestWith(deliveries.pending, name);
    const refusal = pending === undefined ? deliveries.refusalOf(name) : undefined;
    const about = pending ?? refusal;
    if (about === undefined) return undefined;
    const resource = (refusal?.resources ?? (pending && resourcesIn(pending.body)))?.get(name);
    // A State of the World response repeats what the client ACKed before.
    if (resource !== undefined && hasSameContent(resource, this.#accepted(name))) return undefined;
    const status = refusal === undefined ? "pending" : "nacked";
    return this.#state(name, status, resource, isSent, about.nonce, refusal?.error);
  }

  /** The resource in the newest response that was ACKed, if it was in it. */
  #accepted(name: string): Resource | undefined {
    const { accepted } = this.#type.deliveries;
    return accepted === undefined ? undefined : resourcesIn(accepted.body).get(name);
  }

  /** One literal without a spread, because a large fleet has millions of these. */
  #state(
    name: string,
    status: ResourceStatus,
    resource: Resource | undefined,
    isSent: boolean,
    nonce?: string,
    error?: Status,
  ): ResourceState {
    const { type, kind } = this.#type.traits;
    return { type, kind, name, status, resource, nonce, error, isSent };
  }
}

function newestWith(pending: readonly Delivery[], name: string): Delivery | undefined {
  let newest: Delivery | undefined;
  for (const one of pending) if (one.isHeartbeat !== true && resourcesIn(one.body).has(name)) newest = one;
  return newest;
}
