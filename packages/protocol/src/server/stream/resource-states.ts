import type { Status } from "../../message/status.ts";
import type { Resource } from "../../resource/resource.ts";
import { hasSameContent } from "../../resource/ttl.ts";
import type { View } from "../../state/view.ts";
import type { Delivery } from "../ack/delivery.ts";
import { resourcesIn } from "../ack/nack-history.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { ResourceState, ResourceStatus } from "../contract/inspect.ts";
import type { TypeStream } from "../type/type-stream.ts";

/**
 * How each resource that a client asks for of one type stands with it, and each name that stands for nothing; then what it
 * goes on holding although it is gone (S-CSD-02). Lazy: what is not walked is not looked at.
 */
export function* resourceStates(type: TypeStream, view: View, responses: SharedResponses): Iterable<ResourceState> {
  const standings = new Standings(type, view, responses);
  const { traits, subscription, pendingRemovals } = type;
  const seen = new Set<string>();
  if (subscription.isWildcard) {
    for (const resource of view.members(traits.type)) {
      if (resource.onDemand) continue;
      if (subscription.names.size > 0) seen.add(resource.name);
      yield standings.of(resource);
    }
  }
  for (const term of subscription.names) {
    const answers = view.answersTo(traits.type, term);
    if (answers.length === 0) yield standings.ofNone(term);
    for (const resource of answers) {
      if (seen.has(resource.name)) continue;
      seen.add(resource.name);
      yield standings.of(resource);
    }
  }
  for (const [name, { was }] of pendingRemovals.names) {
    if (view.holder(traits.type, name) !== undefined) continue;
    yield standings.ofGone(name, was !== undefined && "bytes" in was ? was : undefined);
  }
}

class Standings {
  readonly #type: TypeStream;
  readonly #view: View;
  readonly #responses: SharedResponses;

  constructor(type: TypeStream, view: View, responses: SharedResponses) {
    this.#type = type;
    this.#view = view;
    this.#responses = responses;
  }

  of(resource: Resource): ResourceState {
    const { name } = resource;
    const isTold = this.#type.isSent(name, this.#view, this.#responses);
    return this.#answered(name, isTold) ?? this.#state(name, isTold ? "synced" : "not-sent", resource, isTold);
  }

  /** A name that nothing in the view answers to. */
  ofNone(name: string): ResourceState {
    const isTold = this.#type.position !== undefined && this.#type.isSent(name, this.#view, this.#responses);
    const answered = this.#answered(name, isTold);
    if (answered !== undefined) return answered;
    const error = this.#view.error(this.#type.traits.type, name)?.error;
    if (error !== undefined) return this.#state(name, "failed", undefined, isTold, undefined, error);
    const held = this.#accepted(name);
    if (held !== undefined) return this.#state(name, "synced", held, isTold);
    return this.#state(name, this.#type.traits.kind === "opaque" ? "unknown" : "missing", undefined, isTold);
  }

  /** What the client goes on holding until nothing can use it. */
  ofGone(name: string, resource: Resource | undefined): ResourceState {
    return this.#answered(name, false) ?? this.#state(name, "synced", resource, false);
  }

  /** As the newest response that has the name was answered; undefined if it was accepted, or is not remembered. */
  #answered(name: string, isTold: boolean): ResourceState | undefined {
    const { deliveries } = this.#type;
    const pending = newestWith(deliveries.pending, name);
    const refusal = pending === undefined ? deliveries.refusalOf(name) : undefined;
    const about = pending ?? refusal;
    if (about === undefined) return undefined;
    const resource = resourcesIn(about.body).get(name);
    // A response of State of the World repeats what the client took before.
    if (resource !== undefined && hasSameContent(resource, this.#accepted(name))) return undefined;
    const status = refusal === undefined ? "stale" : "refused";
    return this.#state(name, status, resource, isTold, about.nonce, refusal?.error);
  }

  /** As it was in the newest response that was accepted, if it was in there. */
  #accepted(name: string): Resource | undefined {
    const { accepted } = this.#type.deliveries;
    return accepted === undefined ? undefined : resourcesIn(accepted.body).get(name);
  }

  /** One literal and no spreading: a fleet has millions of them. */
  #state(
    name: string,
    status: ResourceStatus,
    resource: Resource | undefined,
    isTold: boolean,
    nonce?: string,
    error?: Status,
  ): ResourceState {
    const { type, kind } = this.#type.traits;
    return { type, kind, name, status, resource, nonce, error, isTold };
  }
}

function newestWith(pending: readonly Delivery[], name: string): Delivery | undefined {
  for (let i = pending.length - 1; i >= 0; i--) {
    const one = pending[i];
    if (one !== undefined && one.isHeartbeat !== true && resourcesIn(one.body).has(name)) return one;
  }
  return undefined;
}
