import { type EntryChange, type EntryPlace, parseVariantKey, placeKey } from "@xdskit/protocol/internal";
import type { Publication } from "./publication.ts";

/** Deletions of live data that wait until nothing refers to it any more. */
export class WaitingDeletions {
  readonly #waiting = new Map<string, { readonly place: EntryPlace; readonly by: Publication }>();

  get places(): readonly EntryPlace[] {
    return [...this.#waiting.values()].map(({ place }) => place);
  }

  /** Takes note of what a publication deletes, and what it says again of what waits. */
  note(by: Publication, made: readonly EntryChange[], waiting: readonly EntryChange[]): void {
    // A publication of whole layers says everything about them.
    if (by.layers !== undefined)
      for (const [key, one] of this.#waiting) if (one.by.origin.writer === by.origin.writer) this.#waiting.delete(key);
    if (this.#waiting.size > 0) {
      for (const change of made) this.#waiting.delete(placeKey(change));
      for (const { layer, type, name } of by.changes?.flatMap(putsOf) ?? [])
        this.#waiting.delete(placeKey({ layer, type, name }));
    }
    for (const { layer, type, name } of waiting)
      this.#waiting.set(placeKey({ layer, type, name }), { place: { layer, type, name }, by });
  }

  /** What can be deleted now, as publications of those who asked for it. */
  takeDue(mustWait: (place: EntryPlace, by: Publication) => boolean): readonly Publication[] {
    const due = new Map<Publication, EntryPlace[]>();
    for (const [key, { place, by }] of this.#waiting) {
      if (mustWait(place, by)) continue;
      this.#waiting.delete(key);
      const places = due.get(by) ?? [];
      places.push(place);
      due.set(by, places);
    }
    return [...due].map(([{ author, message, origin }, places]) => ({
      ...{ author, message, origin: { writer: origin.writer } },
      changes: places.map(({ layer, type, name }) => ({
        layer,
        deletes: [{ type, ...(parseVariantKey(name) ?? { name }) }],
      })),
    }));
  }
}

function putsOf({ layer, puts = [] }: NonNullable<Publication["changes"]>[number]): readonly EntryPlace[] {
  return puts.map(({ type, name }) => ({ layer, type, name }));
}
