import type { Resource } from "../../resource/resource.ts";
import { markOf, type SentMark } from "../../resource/ttl.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { type Uses, unknownUses } from "../cache/shared-selections.ts";
import { LazyMap } from "../memory/lazy.ts";
import type { Subscription } from "../subscription/subscription.ts";
import type { HeldBackResource, ReadonlySentState } from "./readonly-sent-state.ts";

/** An earlier state of a resource, sent in place of a newer one that has to wait. */
export interface Target {
  readonly resource: Resource;
  readonly revision: number;
}

/** Names that are held back, with what is sent in the meantime; undefined: nothing. */
export type HeldBackNames = ReadonlyMap<string, Target | undefined>;

/**
 * Resources of one type that are held back from a client, because something that they reference has to come first.
 * Others are sent (S-ORD-06).
 */
export class HeldBack {
  readonly #held = new LazyMap<string, HeldBackResource>();

  /** The resources by name. */
  get resources(): ReadonlyMap<string, HeldBackResource> {
    return this.#held;
  }

  /** The revision before the oldest of them. Infinite: nothing is held back. */
  get from(): number {
    let from = Number.POSITIVE_INFINITY;
    for (const held of this.#held.values()) from = Math.min(from, held.from);
    return from;
  }

  has(name: string): boolean {
    return this.#held.has(name);
  }

  /** The client dropped what it had of a name. */
  forget(name: string): void {
    this.#held.delete(name);
  }

  /** What the client goes on using while a name is held back. */
  replacedBy(name: string): Uses | undefined {
    return this.#held.get(name)?.replaces;
  }

  /**
   * Holds back these names, and no others. Returns the last state that the client was sent of those that changed, with
   * the targets that are sent now, for the comparison when they are let go.
   */
  hold(
    names: HeldBackNames,
    { type, position, pendingNames: asked, sentOutOfOrder: ahead }: ReadonlySentState,
    current: CurrentView,
    subscription: Subscription,
  ): ReadonlyMap<string, SentMark | undefined> {
    if (names.size === 0) {
      this.#held.clear();
      return nothingTold;
    }
    const sent = new Map<string, SentMark | undefined>([...ahead].filter(([name]) => names.has(name)));
    // What was sent out of order has unknown references by now.
    const replaces = new Map<string, Uses>([...sent].flatMap(([name, mark]) => (mark ? [[name, unknownUses]] : [])));
    for (const { name, then } of position === undefined ? [] : current.differenceSince(position, type).changes) {
      // The client may hold nothing for a pending name; it is answered in any case.
      if (!names.has(name) || sent.has(name) || asked.has(name)) continue;
      const isHad = then !== undefined && subscription.covers(then);
      sent.set(name, isHad ? then : undefined);
      if (isHad) replaces.set(name, then);
    }
    for (const name of this.#held.keys()) if (!names.has(name)) this.#held.delete(name);
    for (const [name, target] of names) {
      if (target !== undefined) {
        sent.set(name, markOf(target.resource, current.ttls));
        this.#held.set(name, { replaces: target.resource, from: target.revision });
      }
      // For a name that was held back before, the earlier state counts.
      else if (!this.#held.has(name))
        this.#held.set(name, { replaces: replaces.get(name), from: position?.revision ?? -1 });
    }
    return sent;
  }
}

const nothingTold: ReadonlyMap<string, SentMark | undefined> = new Map();

/** Nothing is held back. */
export const nothingHeldBack: HeldBackNames = new Map();
