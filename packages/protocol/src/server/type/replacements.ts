import type { HeldBackNames } from "./held-back.ts";

/** What a flush is about to send of a type. */
export interface Due {
  readonly removed: Iterable<string>;
  /** Names that changed or came, also those that are held back. */
  readonly put: Iterable<string>;
  readonly heldBack: HeldBackNames;
  readonly revision: number;
}

/** Names that something waits for, of those there were when it came up. */
interface Awaited {
  readonly names: readonly string[];
  /** The revision at that moment: an earlier state of a resource that is at least as new counts as sent. */
  readonly revision: number;
}

const nothing: ReadonlyMap<string, Awaited> = new Map();

/**
 * What is sent together, because one resource may replace another under a new name: a Listener for the same address, a
 * virtual host for the same domain. A client without the one and not yet with the other would refuse requests, and a
 * client with both refuses the response (S-ORD-01).
 *
 * A removal waits for what was held back when it came up, and a change for the removals that waited when it came up.
 * Neither waits for what comes later, so both are sent in the end under constant change.
 */
export class Replacements {
  #removals = nothing;
  #puts = nothing;

  /** Whether a removal waits. */
  get isAnyRemovalWaiting(): boolean {
    return this.#removals.size > 0;
  }

  /** Returns which of all that is due, beyond what is held back, has to wait: removals and changes. */
  hold({ removed, put, heldBack, revision }: Due): readonly string[] {
    const isUnsent = (name: string, since: number): boolean =>
      heldBack.has(name) && (heldBack.get(name)?.revision ?? Number.NEGATIVE_INFINITY) < since;
    const removals = stillWaiting(removed, this.#removals, { names: [...heldBack.keys()], revision }, isUnsent);
    const isKept = (name: string): boolean => removals.has(name);
    const puts = stillWaiting(put, this.#puts, { names: [...removals.keys()], revision }, isKept);
    this.#removals = removals;
    this.#puts = puts;
    return [...removals.keys(), ...[...puts.keys()].filter((name) => !heldBack.has(name))];
  }
}

/** Those of the names that still wait. What came up together shares what it waits for. */
function stillWaiting(
  names: Iterable<string>,
  before: ReadonlyMap<string, Awaited>,
  atFirst: Awaited,
  isAwaited: (name: string, since: number) => boolean,
): ReadonlyMap<string, Awaited> {
  const left = new Map<Awaited, Awaited>();
  const waiting = new Map<string, Awaited>();
  for (const name of names) {
    const known = before.get(name) ?? atFirst;
    let awaited = left.get(known);
    if (awaited === undefined) {
      const { revision } = known;
      awaited = { names: known.names.filter((one) => isAwaited(one, revision)), revision };
      left.set(known, awaited);
    }
    if (awaited.names.length > 0) waiting.set(name, awaited);
  }
  return waiting.size === 0 ? nothing : waiting;
}

/** What is held back, with names that wait for it. */
export function withWaiting(heldBack: HeldBackNames, names: readonly string[]): HeldBackNames {
  return names.length === 0 ? heldBack : new Map([...heldBack, ...names.map((name) => [name, undefined] as const)]);
}
