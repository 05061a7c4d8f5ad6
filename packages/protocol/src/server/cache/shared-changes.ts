import { globOf } from "../../resource/resource-name.ts";
import type { Ttls } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import {
  type Change,
  type Difference,
  differenceBetween,
  isSamePosition,
  type Position,
  positionKey,
} from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import { Recent } from "../memory/recent.ts";

/**
 * How many elements are kept of each kind: enough for a transaction of 100,000 resources, and for a thousand views of
 * small ones.
 */
const ELEMENTS_KEPT = 200_000;

/**
 * What changed between a position and now; computed once for all clients at that position. Dropped with the next
 * transaction.
 */
export class SharedChanges {
  readonly #ttls: Ttls;
  readonly #differences = new Recent<Difference>(ELEMENTS_KEPT, ({ changes }) => changes.length);
  readonly #names = new Recent<ReadonlySet<string>>(ELEMENTS_KEPT, ({ size }) => size);
  readonly #newcomers = new Recent<ReadonlySet<string>>(ELEMENTS_KEPT, ({ size }) => size);
  readonly #retargeted = new Recent<ReadonlySet<string>>(ELEMENTS_KEPT, ({ size }) => size);
  /** The difference that was asked for last: most streams stand at one position. */
  #last: { readonly from: Position; readonly view: View; readonly type: TypeUrl; readonly is: Difference } | undefined;
  readonly #byTerm = new Recent<ReadonlyMap<string, readonly Change[]>>(ELEMENTS_KEPT, ({ size }) => size);

  constructor(ttls: Ttls) {
    this.#ttls = ttls;
  }

  clear(): void {
    this.#last = undefined;
    for (const made of [this.#differences, this.#names, this.#newcomers, this.#retargeted, this.#byTerm]) made.clear();
  }

  /** The whole difference. */
  between(from: Position, view: View, type: TypeUrl): Difference {
    const last = this.#last;
    if (last?.view === view && last.type === type && isSamePosition(last.from, from)) return last.is;
    const is = this.#differences.get(wayKey(from, view, type), () => differenceBetween(from, view, type, this.#ttls));
    this.#last = { from, view, type, is };
    return is;
  }

  /** The names that changed since a position. */
  names(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    return this.#names.get(wayKey(from, view, type), () => {
      return new Set(this.between(from, view, type).changes.map(({ name }) => name));
    });
  }

  /** The names that had no resource at a position and have one now. */
  newcomers(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    return this.#newcomers.get(wayKey(from, view, type), () => {
      const { changes } = this.between(from, view, type);
      return new Set(changes.flatMap(({ name, then, now }) => (then === undefined && now !== undefined ? [name] : [])));
    });
  }

  /** The names that had a resource at a position and have one now that references something else. */
  retargeted(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    return this.#retargeted.get(wayKey(from, view, type), () => {
      const names = new Set<string>();
      for (const { name, then, now } of this.between(from, view, type).changes)
        if (
          then !== undefined &&
          now !== undefined &&
          JSON.stringify(then.references) !== JSON.stringify(now.references)
        )
          names.add(name);
      return names;
    });
  }

  /**
   * The difference by every term that a change may match: present and former names and aliases, and their collections.
   */
  byTerm(from: Position, view: View, type: TypeUrl): ReadonlyMap<string, readonly Change[]> {
    return this.#byTerm.get(wayKey(from, view, type), () => {
      const byTerm = new Map<string, Change[]>();
      for (const change of this.between(from, view, type).changes) {
        for (const term of termsFor(change)) memo(byTerm, term, (): Change[] => []).push(change);
      }
      return byTerm;
    });
  }

  /** The former states with a TTL of names that changed since a position; undefined: none. */
  timedPast(from: Position, view: View, type: TypeUrl): ReadonlyMap<string, Past> | undefined {
    if (this.#ttls === "left-off") return undefined;
    const { changes } = this.between(from, view, type);
    const timed = changes.flatMap(({ name, then }) => (then?.ttlMs === undefined ? [] : [[name, then] as const]));
    return timed.length === 0 ? undefined : new Map(timed);
  }
}

function termsFor({ name, then, now }: Change): ReadonlySet<string> {
  const called = then?.variant?.name ?? now?.variant?.name ?? name;
  const terms = new Set([name, called, ...(then?.aliases ?? []), ...(now?.aliases ?? [])]);
  const collection = globOf(called);
  return collection === undefined ? terms : terms.add(collection);
}

/** A key for the difference between a position and now. */
export function wayKey(from: Position, view: View, type: TypeUrl): string {
  return `${type} ${view.contentKey(type)} ${positionKey(from, view, type)}`;
}
