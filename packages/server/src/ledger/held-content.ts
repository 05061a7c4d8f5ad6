import type { Resource } from "@xdskit/protocol";
import { type Digest, type EntryChange, type HeldRecord, type LedgerState, placeKey } from "@xdskit/protocol/internal";
import { resourcesOf } from "./reading.ts";
import type { PlacedResource } from "./references.ts";
import type { LedgerStore } from "./store.ts";

/** The content of changes: what the store keeps, and of the held change also what it does not, such as Secrets. */
export class HeldContent {
  readonly #store: LedgerStore;
  readonly #digest: Digest;
  /** The resources of the held change by place, while they are at hand. */
  #atHand: { readonly number: number; readonly resources: ReadonlyMap<string, Resource> } | undefined;

  constructor(store: LedgerStore, digest: Digest) {
    this.#store = store;
    this.#digest = digest;
  }

  /** Keeps the resources of the held change `number` at hand, until another one is held. */
  keep(number: number, given: ReadonlyMap<EntryChange, Resource>): void {
    this.#atHand = { number, resources: new Map([...given].map(([one, resource]) => [placeKey(one), resource])) };
  }

  /** The resources of changes that the store keeps. */
  of(changes: readonly EntryChange[]): Promise<ReadonlyMap<EntryChange, Resource>> {
    return resourcesOf(changes, this.#store, this.#digest);
  }

  /** The resources of the held change. */
  async ofHeld({ number, changes }: HeldRecord): Promise<ReadonlyMap<EntryChange, Resource>> {
    const resources = new Map(await this.of(changes));
    const atHand = this.#atHand?.number === number ? this.#atHand.resources : undefined;
    for (const change of changes) {
      const resource = atHand?.get(placeKey(change));
      if (change.after !== undefined && resource !== undefined) resources.set(change, resource);
    }
    return resources;
  }

  /** What would come in force with the held change. */
  async placed({ held }: LedgerState): Promise<readonly PlacedResource[]> {
    if (held === undefined) return [];
    return [...(await this.ofHeld(held))].map(([{ layer }, resource]) => ({ layer, resource }));
  }
}
