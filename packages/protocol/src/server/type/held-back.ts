import type { Resource } from "../../resource/resource.ts";
import { markOf, type SentMark } from "../../resource/ttl.ts";
import type { View } from "../../state/view.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import { type Uses, unknownUses } from "../cache/shared-selections.ts";
import type { Subscription } from "../subscription/subscription.ts";
import type { ReadonlySentState } from "./readonly-sent-state.ts";

/** A resource as it was at a revision, told in place of a newer one that has to wait. */
export interface Target {
  readonly resource: Resource;
  readonly revision: number;
}

/** Names that are held back, each with what is told in the meantime; undefined: nothing. */
export type HeldBackNames = ReadonlyMap<string, Target | undefined>;

/** What is not told yet of a resource. */
interface HeldBackResource {
  /** What the client goes on using; undefined: nothing of that name. */
  readonly replaces: Uses | undefined;
  /** The revision that the client had been told of before. */
  readonly from: number;
}

/**
 * Resources of one type that a client is not told of yet, because something that they name has to come first. The others go
 * on (S-ORD-06).
 */
export class HeldBack {
  readonly #held = new Map<string, HeldBackResource>();

  /** The revision before the oldest of them. Infinite: nothing is held back. */
  get from(): number {
    let from = Number.POSITIVE_INFINITY;
    for (const held of this.#held.values()) from = Math.min(from, held.from);
    return from;
  }

  has(name: string): boolean {
    return this.#held.has(name);
  }

  /** What the client goes on using instead of what is held back. */
  replacedBy(name: string): Uses | undefined {
    return this.#held.get(name)?.replaces;
  }

  /**
   * From now on these are held back, and nothing else. Returns what the client was told of those that changed, and is told now,
   * to be compared with what they are when they may go.
   */
  hold(
    names: HeldBackNames,
    { type, position, pendingNames: asked, sentOutOfOrder: ahead }: ReadonlySentState,
    view: View,
    responses: SharedResponses,
    subscription: Subscription,
  ): ReadonlyMap<string, SentMark | undefined> {
    if (names.size === 0) {
      this.#held.clear();
      return nothingTold;
    }
    const told = new Map<string, SentMark | undefined>([...ahead].filter(([name]) => names.has(name)));
    // Of what was told out of turn, nobody knows any more what it used.
    const replaces = new Map<string, Uses>([...told].flatMap(([name, mark]) => (mark ? [[name, unknownUses]] : [])));
    for (const { name, then } of position === undefined
      ? []
      : responses.changes.between(position, view, type).changes) {
      // Of what is asked for, the client may have nothing; it is answered whatever it was.
      if (!names.has(name) || told.has(name) || asked.has(name)) continue;
      const isHad = then !== undefined && subscription.covers(then);
      told.set(name, isHad ? then : undefined);
      if (isHad) replaces.set(name, then);
    }
    for (const name of this.#held.keys()) if (!names.has(name)) this.#held.delete(name);
    for (const [name, target] of names) {
      if (target !== undefined) {
        told.set(name, markOf(target.resource, responses.ttls));
        this.#held.set(name, { replaces: target.resource, from: target.revision });
      }
      // Of what was held back before, the older word counts.
      else if (!this.#held.has(name))
        this.#held.set(name, { replaces: replaces.get(name), from: position?.revision ?? -1 });
    }
    return told;
  }
}

const nothingTold: ReadonlyMap<string, SentMark | undefined> = new Map();

/** Nothing is held back. */
export const nothingHeldBack: HeldBackNames = new Map();
