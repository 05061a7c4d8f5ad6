import { type EntryPlace, type LedgerState, placeKey, type Steps } from "@xdskit/protocol/internal";
import type { ResourceChanges } from "./entries.ts";
import type { PlacedResource, References } from "./references.ts";

/** The layer that every node sees, unless its mapping says otherwise. */
export const COMMON_LAYER = "base";

/** Beside what is in force: what refers to names, or will. */
export interface Referring {
  readonly references: References;
  readonly state: LedgerState;
  /** What is planned upon what is in force, the publication itself last. */
  readonly planned: readonly ResourceChanges[];
  /** What would come in force if what is held were approved. */
  readonly held: readonly PlacedResource[];
}

/** What refers to names once everything planned and held is in force. */
export class FutureReferences {
  readonly #references: References;
  readonly #state: LedgerState;
  /** The places of what is planned. */
  readonly #changed = new Set<string>();
  readonly #deleted = new Set<string>();
  /** The layers of what is planned or held, by the name that it refers to. */
  readonly #layers = new Map<string, Set<string>>();

  private constructor({ references, state }: Referring) {
    this.#references = references;
    this.#state = state;
  }

  static *of(referring: Referring): Steps<FutureReferences> {
    const made = new FutureReferences(referring);
    for (const { changes, resources } of [...referring.planned].reverse()) {
      for (const change of changes) {
        yield;
        const key = placeKey(change);
        if (made.#changed.has(key)) continue;
        made.#changed.add(key);
        if (change.after === undefined) made.#deleted.add(key);
        const resource = resources.get(change);
        if (resource !== undefined) made.#add({ layer: change.layer, resource });
      }
    }
    for (const one of referring.held) {
      made.#add(one);
      yield;
    }
    return made;
  }

  /**
   * Whether anything stable would refer to nothing once a resource of live data is deleted. What the layer of the
   * referring resource, or the common layer, still has under that name takes its place.
   */
  needs(place: EntryPlace): boolean {
    const layers = new Set(this.#layers.get(nameKey(place)));
    for (const [key, layer] of this.#references.to(place)) if (!this.#changed.has(key)) layers.add(layer);
    const remains = (layer: string): boolean => {
      const other = { ...place, layer };
      return layer !== place.layer && this.#state.entry(other) !== undefined && !this.#deleted.has(placeKey(other));
    };
    return [...layers].some((layer) => !remains(layer) && !remains(COMMON_LAYER));
  }

  #add({ layer, resource }: PlacedResource): void {
    for (const reference of resource.references) {
      const key = nameKey(reference);
      this.#layers.set(key, (this.#layers.get(key) ?? new Set()).add(layer));
    }
  }
}

function nameKey({ type, name }: Pick<EntryPlace, "type" | "name">): string {
  return `${type} ${name}`;
}
