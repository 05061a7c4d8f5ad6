import type { Steps } from "../state/steps.ts";
import { placeKey } from "./place.ts";
import type { EntryChange, EntryPlace, Pin } from "./record.ts";

/** What rollbacks took back; a place may have several versions that must not come back. */
export class PinnedEntries {
  readonly #byPlace = new Map<string, readonly Pin[]>();

  constructor(pins: Iterable<Pin> = []) {
    for (const pin of pins) this.add(pin);
  }

  get list(): readonly Pin[] {
    return [...this.#byPlace.values()].flat();
  }

  /** The pin that forbids a change. */
  forbidding(change: EntryChange): Pin | undefined {
    return this.#at(change).find(({ version }) => version === change.after?.version);
  }

  add({ layer, type, name, version }: Pin): void {
    const others = this.#at({ layer, type, name }).filter((pin) => pin.version !== version);
    this.#byPlace.set(placeKey({ layer, type, name }), [...others, { layer, type, name, version }]);
  }

  delete(pin: Pin): void {
    const others = this.#at(pin).filter(({ version }) => version !== pin.version);
    if (others.length > 0) this.#byPlace.set(placeKey(pin), others);
    else this.#byPlace.delete(placeKey(pin));
  }

  /** Takes away every pin of some places. */
  *release(places: Iterable<EntryPlace>): Steps<void> {
    if (this.#byPlace.size === 0) return;
    for (const place of places) {
      this.#byPlace.delete(placeKey(place));
      yield;
    }
  }

  #at(place: EntryPlace): readonly Pin[] {
    return this.#byPlace.size === 0 ? [] : (this.#byPlace.get(placeKey(place)) ?? []);
  }
}
