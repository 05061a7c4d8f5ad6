import { ITEMS_A_STEP, type Steps } from "../state/steps.ts";
import { type PlacedEntry, placeKey } from "./place.ts";
import type { EntryChange, EntryPlace } from "./record.ts";

/** How many deletions are remembered, and how many bytes the deleted resources may have together; the oldest go. */
const LIMITS = { entries: 4_096, bytes: 16 * 1024 * 1024 };

/** Live data that was deleted, and the number of the record that did it. */
export interface DeletedEntry extends PlacedEntry {
  readonly number: number;
}

/**
 * The live data that was deleted last, so that a rollback can bring back what its resources refer to. Of live data
 * nothing else is remembered of the past.
 */
export class LiveDeletions {
  /** By place, in the order of their deletion. */
  readonly #deleted = new Map<string, DeletedEntry>();
  #bytes = 0;

  constructor(deleted: Iterable<DeletedEntry> = []) {
    for (const one of deleted) this.#add(one);
  }

  get list(): readonly DeletedEntry[] {
    return [...this.#deleted.values()];
  }

  /** Live data changes with the record `number`. */
  *changed(changes: readonly EntryChange[], number: number): Steps<void> {
    let taken = 0;
    for (const change of changes) {
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
      const { layer, type, name, before, after } = change;
      if (after !== undefined) this.#forget(change);
      else if (before !== undefined) this.#add({ layer, type, name, entry: before, number });
    }
  }

  /** A rollback brings some of it back. */
  returned(changes: readonly EntryChange[]): void {
    for (const change of changes) if (change.after !== undefined) this.#forget(change);
  }

  #add(one: DeletedEntry): void {
    this.#forget(one);
    this.#deleted.set(placeKey(one), one);
    this.#bytes += one.entry.size;
    for (const oldest of this.#deleted.values()) {
      if (this.#deleted.size <= LIMITS.entries && this.#bytes <= LIMITS.bytes) return;
      this.#forget(oldest);
    }
  }

  #forget(place: EntryPlace): void {
    // Most servers delete no live data, and change much of it.
    if (this.#deleted.size === 0) return;
    const key = placeKey(place);
    this.#bytes -= this.#deleted.get(key)?.entry.size ?? 0;
    this.#deleted.delete(key);
  }
}
