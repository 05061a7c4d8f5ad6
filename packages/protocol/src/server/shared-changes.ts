import type { Ttls } from "../resource/ttl.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { type Difference, differenceBetween, type Position, positionKey } from "../state/difference.ts";
import type { Past } from "../state/journal.ts";
import type { View } from "../state/view.ts";
import { memo } from "./memo.ts";

/** What changed between positions and now; found once for all who stand at the same one. Forgotten with the next transaction. */
export class SharedChanges {
  readonly #ttls: Ttls;
  readonly #differences = new Map<string, Difference>();
  readonly #names = new Map<string, ReadonlySet<string>>();
  readonly #newcomers = new Map<string, ReadonlySet<string>>();

  constructor(ttls: Ttls) {
    this.#ttls = ttls;
  }

  clear(): void {
    for (const made of [this.#differences, this.#names, this.#newcomers]) made.clear();
  }

  /** All that differs. */
  between(from: Position, view: View, type: TypeUrl): Difference {
    return memo(this.#differences, wayKey(from, view, type), () => differenceBetween(from, view, type, this.#ttls));
  }

  /** Names that are not what they were at a position. */
  names(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    return memo(this.#names, wayKey(from, view, type), () => {
      return new Set(this.between(from, view, type).changes.map(({ name }) => name));
    });
  }

  /** Names that nothing answered to at a position and something does now. */
  newcomers(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    return memo(this.#newcomers, wayKey(from, view, type), () => {
      const { changes } = this.between(from, view, type);
      return new Set(changes.flatMap(({ name, then, now }) => (then === undefined && now !== undefined ? [name] : [])));
    });
  }

  /** What names were at a position that had a ttl and are not what they were; undefined: there are none. */
  timedPast(from: Position, view: View, type: TypeUrl): ReadonlyMap<string, Past> | undefined {
    if (this.#ttls === "left-off") return undefined;
    const { changes } = this.between(from, view, type);
    const timed = changes.flatMap(({ name, then }) => (then?.ttlMs === undefined ? [] : [[name, then] as const]));
    return timed.length === 0 ? undefined : new Map(timed);
  }
}

/** A name for a way from a position to now. */
export function wayKey(from: Position, view: View, type: TypeUrl): string {
  return `${type} ${view.key} ${positionKey(from, view, type)}`;
}
