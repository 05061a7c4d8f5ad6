import type { HeldState } from "./held.ts";
import type { Term } from "./interest.ts";
import type { TypeSubscription } from "./type-subscription.ts";

/** Yields the state of every held or requested name of a type (B-OBS-04). */
export function* statesOf(topic: TypeSubscription): Iterable<HeldState> {
  const { type, accepted, interest } = topic;
  for (const { name, status, resource, acceptedAtMs, failure } of accepted.entries()) {
    yield { type, name, status, resource, acceptedAtMs, failure };
  }
  for (const term of interest.terms()) {
    if (!isOpen(topic, term)) continue;
    const { text: name, status, failure } = term;
    yield { type, name, status, resource: undefined, acceptedAtMs: undefined, failure };
  }
}

/** Whether a term is watched and no entry gives its state. */
function isOpen({ accepted }: TypeSubscription, term: Term): boolean {
  if (term.kind === "everything" || term.watches.size === 0) return false;
  if (term.kind === "glob" && term.status === "requested") return !term.isSynced;
  for (const _ of accepted.answering(term)) return false;
  return true;
}
