import type { Resource } from "../resource/resource.ts";
import type { View } from "../state/view.ts";
import type { Delivery } from "./delivery.ts";
import type { ResourceState } from "./inspect.ts";
import type { Present } from "./present.ts";
import { resourcesIn } from "./refusals.ts";
import type { TypeStream } from "./type-stream.ts";

type Standing = Pick<ResourceState, "status" | "resource" | "nonce" | "error" | "isTold">;

/**
 * How each resource that a client asks for of one type stands with it, and each name that stands for nothing; then what it
 * goes on holding although it is gone (S-CSD-02). Lazy: what is not walked is not looked at.
 */
export function* resourceStates(type: TypeStream, view: View, present: Present): Iterable<ResourceState> {
  const standings = new Standings(type, view, present);
  const { traits, subscription, heldOver } = type;
  const about = { type: traits.type, kind: traits.kind };
  const seen = new Set<string>();
  if (subscription.isWildcard) {
    for (const resource of view.members(traits.type)) {
      if (resource.onDemand) continue;
      if (subscription.names.size > 0) seen.add(resource.name);
      yield { ...about, name: resource.name, ...standings.of(resource) };
    }
  }
  for (const term of subscription.names) {
    const answers = view.answersTo(traits.type, term);
    if (answers.length === 0) yield { ...about, name: term, ...standings.ofNone(term) };
    for (const resource of answers) {
      if (seen.has(resource.name)) continue;
      seen.add(resource.name);
      yield { ...about, name: resource.name, ...standings.of(resource) };
    }
  }
  for (const [name, { was }] of heldOver.names) {
    if (view.holder(traits.type, name) !== undefined) continue;
    const resource = was !== undefined && "bytes" in was ? was : undefined;
    yield { ...about, name, ...standings.ofGone(name, resource) };
  }
}

class Standings {
  readonly #type: TypeStream;
  readonly #view: View;
  readonly #present: Present;

  constructor(type: TypeStream, view: View, present: Present) {
    this.#type = type;
    this.#view = view;
    this.#present = present;
  }

  of(resource: Resource): Standing {
    const { name } = resource;
    const isTold = this.#type.isTold(name, this.#view, this.#present);
    return this.#answered(name, isTold) ?? { ...plain(isTold ? "synced" : "not-sent", resource), isTold };
  }

  /** A name that nothing in the view answers to. */
  ofNone(name: string): Standing {
    const isTold = this.#type.position !== undefined && this.#type.isTold(name, this.#view, this.#present);
    const answered = this.#answered(name, isTold);
    if (answered !== undefined) return answered;
    const error = this.#view.error(this.#type.traits.type, name)?.error;
    if (error !== undefined) return { ...plain("failed", undefined), error, isTold };
    const held = this.#accepted(name);
    if (held !== undefined) return { ...plain("synced", held), isTold };
    return { ...plain(this.#type.traits.kind === "opaque" ? "unknown" : "missing", undefined), isTold };
  }

  /** What the client goes on holding until nothing can use it. */
  ofGone(name: string, resource: Resource | undefined): Standing {
    return this.#answered(name, false) ?? { ...plain("synced", resource), isTold: false };
  }

  /** As the newest response that has the name was answered; undefined if it was accepted, or is not remembered. */
  #answered(name: string, isTold: boolean): Standing | undefined {
    const { deliveries } = this.#type;
    const pending = [...deliveries.pending].reverse().find((one) => has(one, name));
    const refusal = pending === undefined ? deliveries.refusalOf(name) : undefined;
    const about = pending ?? refusal?.delivery;
    if (about === undefined) return undefined;
    const resource = resourcesIn(about.body).get(name);
    // A response of State of the World repeats what the client took before.
    if (resource !== undefined && resource.version === this.#accepted(name)?.version) return undefined;
    const status = refusal === undefined ? "stale" : "refused";
    return { status, resource, nonce: about.nonce, error: refusal?.error, isTold };
  }

  /** As it was in the newest response that was accepted, if it was in there. */
  #accepted(name: string): Resource | undefined {
    const { accepted } = this.#type.deliveries;
    return accepted === undefined ? undefined : resourcesIn(accepted.body).get(name);
  }
}

function has({ body, isHeartbeat }: Delivery, name: string): boolean {
  return isHeartbeat !== true && resourcesIn(body).has(name);
}

function plain(status: ResourceState["status"], resource: Resource | undefined): Omit<Standing, "isTold"> {
  return { status, resource, nonce: undefined, error: undefined };
}
