import { ITEMS_A_STEP, type Steps } from "../state/steps.ts";
import { placeKey } from "./place.ts";
import type { EmptiedRecord, EntryChange, EntryPlace } from "./record.ts";

/** Endpoints that became empty, and are held back. */
export interface EmptiedEntry {
  readonly writer: string;
  readonly change: EntryChange;
  /** Of the first record that held it back, in milliseconds since 1970. */
  readonly since: number;
  /** Of the record that told of it last, by which it is approved. */
  readonly number: number;
}

/** The endpoints that are held back because they became empty. */
export class EmptiedEndpoints {
  readonly #entries = new Map<string, EmptiedEntry>();

  constructor(entries: readonly EmptiedEntry[] = []) {
    for (const entry of entries) this.#entries.set(placeKey(entry.change), entry);
  }

  get list(): readonly EmptiedEntry[] {
    return [...this.#entries.values()];
  }

  at(place: EntryPlace): EmptiedEntry | undefined {
    return this.#entries.size === 0 ? undefined : this.#entries.get(placeKey(place));
  }

  /** What a record told of and nothing has overtaken since. */
  of(number: number): readonly EntryChange[] {
    return this.list.flatMap((entry) => (entry.number === number ? [entry.change] : []));
  }

  /** What a writer has emptied is now this. */
  told({ origin: { writer }, changes, number, time }: EmptiedRecord): void {
    const since = new Map([...this.#entries].map(([key, entry]) => [key, entry.since]));
    for (const [key, entry] of this.#entries) if (entry.writer === writer) this.#entries.delete(key);
    for (const change of changes) {
      const key = placeKey(change);
      this.#entries.set(key, { writer, change, since: since.get(key) ?? time, number });
    }
  }

  /** Something else came in force at these places. */
  overtake(changes: readonly EntryPlace[]): void {
    if (this.#entries.size > 0) for (const change of changes) this.#entries.delete(placeKey(change));
  }
}

/** Live changes that are in force at once, and those that wait because they leave endpoints empty. */
export interface SplitEmptied {
  readonly flowing: readonly EntryChange[];
  readonly emptied: readonly EntryChange[];
}

/**
 * Splits live changes: endpoints that were there and become empty wait until `isOver`, each by itself. A deletion is
 * not concerned: it waits as long as anything refers to it.
 */
export function* splitEmptied(
  live: readonly EntryChange[],
  isOver: (place: EntryPlace) => boolean,
): Steps<SplitEmptied> {
  let taken = 0;
  const flowing: EntryChange[] = [];
  const emptied: EntryChange[] = [];
  for (const change of live) {
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    if (becomesEmpty(change) && !isOver(change)) emptied.push(change);
    else flowing.push(change);
  }
  return { flowing, emptied };
}

function becomesEmpty({ before, after }: EntryChange): boolean {
  return after?.isEmpty === true && before !== undefined && before.isEmpty !== true;
}
