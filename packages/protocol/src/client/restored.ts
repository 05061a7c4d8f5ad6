import type { KeptResource } from "./held.ts";
import { confirmed, keptAsHeld } from "./received.ts";
import type { TypeSubscription } from "./type-subscription.ts";

/** Uses resources from an earlier run where nothing is held (C-CLI-06). */
export function restoreKept(topic: TypeSubscription, kept: Iterable<KeptResource>): void {
  for (const one of kept) {
    const { name, aliases } = one;
    const terms = topic.interest.termsFor(name, aliases);
    if (terms.length === 0 || topic.accepted.get(name) !== undefined) continue;
    const resource = keptAsHeld(one);
    topic.accepted.set({
      name,
      aliases,
      resource,
      status: "acked",
      failure: undefined,
      acceptedAtMs: undefined,
      server: undefined,
    });
    for (const term of terms) {
      topic.tell(term, { kind: "changed", name, resource });
      if (term.kind !== "name") topic.sync(term);
    }
  }
}

/**
 * Confirms restored resources that the server was sent in the first request and neither changed, removed nor reported
 * an error for.
 */
export function confirmRestored(topic: TypeSubscription, server: number): void {
  for (const entry of topic.accepted.entries()) {
    if (entry.resource?.isRestored === undefined || entry.status !== "acked") continue;
    const resource = confirmed(entry.resource);
    topic.accepted.set({ ...entry, resource, server });
    for (const term of topic.interest.termsFor(entry.name, entry.aliases)) {
      topic.confirm(term, { kind: "confirmed", name: entry.name, resource });
    }
  }
}
