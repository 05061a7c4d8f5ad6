import type { LayerChange, TypeUrl } from "@xdskit/protocol";
import {
  type Digest,
  type EntryChange,
  finish,
  type LedgerState,
  type PlacedEntry,
  placeKey,
} from "@xdskit/protocol/internal";
import { layerChanges } from "./entries.ts";
import { resourcesOf } from "./reading.ts";
import type { LedgerStore } from "./store.ts";

/** As far as a server goes back for the version that a client brings (docs/decisions/0152). */
const MOST_STATES = 64;
const MOST_CHANGES = 512;

/**
 * The Clusters of the last states before a ledger's newest one, collected while it is read: a client may bring the version
 * of one of them from another server.
 */
export class PastClusters {
  readonly #isCluster: (type: TypeUrl) => boolean;
  /** Before the oldest of the changes. */
  readonly #base = new Map<string, PlacedEntry>();
  readonly #changes: (readonly EntryChange[])[] = [];
  #count = 0;

  constructor(isCluster: (type: TypeUrl) => boolean) {
    this.#isCluster = isCluster;
  }

  /** Begins with a snapshot. */
  begin(state: LedgerState): void {
    for (const placed of state.entries()) if (this.#isCluster(placed.type)) this.#base.set(placeKey(placed), placed);
  }

  /** Takes what the next record puts in force. */
  take(all: readonly EntryChange[]): void {
    const changes = all.filter(({ type }) => this.#isCluster(type));
    if (changes.length === 0) return;
    this.#changes.push(changes);
    this.#count += changes.length;
    while (this.#changes.length > MOST_STATES || this.#count > MOST_CHANGES) this.#letGoOfOldest();
  }

  #letGoOfOldest(): void {
    const changes = this.#changes.shift() ?? [];
    this.#count -= changes.length;
    for (const { before: _, after: entry, ...place } of changes) {
      if (entry === undefined) this.#base.delete(placeKey(place));
      else this.#base.set(placeKey(place), { ...place, entry });
    }
  }

  /** The oldest of the states as a whole, and then how each differs from the one before it; nothing, if content is lost. */
  async read(store: LedgerStore, digest: Digest): Promise<readonly (readonly LayerChange[])[]> {
    if (this.#changes.length === 0) return [];
    const first = [...this.#base.values()].map(
      ({ entry, ...place }): EntryChange => ({ ...place, before: undefined, after: entry }),
    );
    const states: (readonly LayerChange[])[] = [];
    for (const changes of [first, ...this.#changes]) {
      const resources = await resourcesOf(changes, store, digest);
      if (changes.some((change) => change.after !== undefined && !resources.has(change))) return [];
      states.push(finish(layerChanges({ changes, resources })));
    }
    return states;
  }
}
