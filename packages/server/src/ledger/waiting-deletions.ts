import {
  type EntryChange,
  type EntryPlace,
  type LedgerState,
  parseVariantKey,
  placeKey,
} from "@xdskit/protocol/internal";
import type { ResourceChanges } from "./entries.ts";
import type { Publication } from "./publication.ts";
import type { PlacedResource, References } from "./references.ts";

/** The layer that every node sees, unless its mapping says otherwise. */
const COMMON = "base";

/** Beside what is in force: what refers to names, or will. */
export interface Referring {
  readonly references: References;
  readonly state: LedgerState;
  /** What is planned upon what is in force, the publication itself last. */
  readonly planned: readonly ResourceChanges[];
  /** What would come in force if what is held were approved. */
  readonly held: readonly PlacedResource[];
}

/**
 * Whether anything stable, in force or held, would refer to nothing once a resource of live data is deleted. What the
 * layer of the referring resource, or the common layer, still has under that name takes its place.
 */
export function isNeeded(place: EntryPlace, { references, state, planned, held }: Referring): boolean {
  const changed = new Set<string>();
  const deleted = new Set<string>();
  const layers = new Set<string>();
  const refers = ({ layer, resource }: PlacedResource): void => {
    if (resource.references.some(({ type, name }) => type === place.type && name === place.name)) layers.add(layer);
  };
  for (const { changes, resources } of [...planned].reverse()) {
    for (const change of changes) {
      const key = placeKey(change);
      if (changed.has(key)) continue;
      changed.add(key);
      if (change.after === undefined) deleted.add(key);
      const resource = resources.get(change);
      if (resource !== undefined) refers({ layer: change.layer, resource });
    }
  }
  held.forEach(refers);
  for (const [key, layer] of references.to(place)) if (!changed.has(key)) layers.add(layer);
  const remains = (layer: string): boolean => {
    const other = { ...place, layer };
    return layer !== place.layer && state.entry(other) !== undefined && !deleted.has(placeKey(other));
  };
  return [...layers].some((layer) => !remains(layer) && !remains(COMMON));
}

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
      due.set(by, [...(due.get(by) ?? []), place]);
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
