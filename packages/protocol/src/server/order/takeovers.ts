import type { View } from "../../state/view.ts";
import type { PendingResource } from "../cache/shared-selections.ts";

/**
 * Which resources give up an alias that another one takes over. If the other one is held back, so are they: a client
 * would have nothing for a domain that moves from one virtual host to another (S-ORD-06).
 */
export class Takeovers {
  readonly #view: View;
  /** By the name of the resource that takes something over. */
  readonly #givers = new Map<string, PendingResource[]>();

  constructor(view: View) {
    this.#view = view;
  }

  /** Adds a resource that could be sent. */
  add(pending: PendingResource): void {
    const { resource, replaces } = pending;
    for (const alias of replaces?.aliases ?? []) {
      if (resource.aliases.includes(alias)) continue;
      const taker = this.#view.find(resource.type, alias)?.name;
      if (taker === undefined || taker === resource.name) continue;
      const givers = this.#givers.get(taker);
      if (givers === undefined) this.#givers.set(taker, [pending]);
      else givers.push(pending);
    }
  }

  /** Adds to what waits all that gives something up to it, also at second hand. */
  holdBack(waiting: Map<string, PendingResource>): void {
    if (this.#givers.size === 0) return;
    // A map is walked up to what is added meanwhile.
    for (const taker of waiting.keys())
      for (const giver of this.#givers.get(taker) ?? [])
        if (!waiting.has(giver.resource.name)) waiting.set(giver.resource.name, giver);
  }
}
