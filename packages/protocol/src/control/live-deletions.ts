import { type PlacedEntry, placeKey } from "./place.ts";
import type { EntryChange } from "./record.ts";

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
  changed(changes: readonly EntryChange[], number: number): void {
    for (const { layer, type, name, before, after } of changes) {
      const place = { layer, type, name };
      if (after !== undefined) this.#forget(placeKey(place));
      else if (before !== undefined) this.#add({ ...place, entry: before, number });
    }
  }

  /** A rollback brings some of it back. */
  returned(changes: readonly EntryChange[]): void {
    if (this.#deleted.size === 0) return;
    for (const change of changes) if (change.after !== undefined) this.#forget(placeKey(change));
  }

  #add(one: DeletedEntry): void {
    const key = placeKey(one);
    this.#forget(key);
    this.#deleted.set(key, one);
    this.#bytes += one.entry.size;
    for (const oldest of this.#deleted.keys()) {
      if (this.#deleted.size <= LIMITS.entries && this.#bytes <= LIMITS.bytes) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    if (this.#deleted.size === 0) return;
    this.#bytes -= this.#deleted.get(key)?.entry.size ?? 0;
    this.#deleted.delete(key);
  }
}
