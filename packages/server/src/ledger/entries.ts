import type { LayerChange, Resource } from "@xdskit/protocol";
import {
  addSums,
  changesBetween,
  type Digest,
  deletedKey,
  type Entry,
  type EntryChange,
  type EntryPlace,
  ITEMS_A_STEP,
  type LedgerState,
  type PlacedEntry,
  placeKey,
  type Steps,
} from "@xdskit/protocol/internal";
import type { Slices } from "../slices.ts";
import type { EntryMemory } from "./entry-memory.ts";
import type { Publication, PublishedChange } from "./publication.ts";

export interface EntryMakerOptions {
  readonly memory: EntryMemory;
  readonly digest: Digest;
  readonly slices: Slices;
}

/** Changes of entries, and the resources that come in force by them. */
export interface ResourceChanges {
  readonly changes: readonly EntryChange[];
  /** The resource of each change that has an `after`. */
  readonly resources: ReadonlyMap<EntryChange, Resource>;
}

/** Makes the entries of resources, and the changes between what is published and what is to be. */
export class EntryMaker {
  readonly #options: EntryMakerOptions;
  readonly #sums = new WeakMap<readonly Resource[], string>();

  constructor(options: EntryMakerOptions) {
    this.#options = options;
  }

  entryOf(resource: Resource): Entry {
    return this.#options.memory.entryOf(resource);
  }

  /** Nothing is added of what was encoded. */
  forgetBodies(): void {
    this.#options.memory.forgetBodies();
  }

  /** Takes the entry of a resource whose content is not here. */
  know(resource: Resource, entry: Entry): void {
    this.#options.memory.know(resource, entry);
  }

  /** Adds the bodies of these resources by their digests, without secrets. */
  async addBodies(resources: Iterable<Resource>, bodies: Map<string, Uint8Array>): Promise<void> {
    const { memory, slices } = this.#options;
    for (const resource of resources) {
      if (memory.entryOf(resource).body === undefined) continue;
      const { id, bytes } = memory.bodyOf(resource);
      bodies.set(id, bytes);
      if (slices.count(bytes.byteLength)) await slices.next();
    }
    memory.forgetBodies();
  }

  /** What changes if these are all resources of all layers of a writer. */
  async changesTo(
    layers: ReadonlyMap<string, readonly Resource[]>,
    writer: string,
    state: LedgerState,
  ): Promise<ResourceChanges> {
    const { slices } = this.#options;
    const desired: (PlacedEntry & { readonly resource: Resource })[] = [];
    for (const [layer, list] of layers) {
      for (const resource of list) {
        desired.push({ layer, type: resource.type, name: resource.name, entry: this.entryOf(resource), resource });
        if (slices.count(resource.bytes.byteLength)) await slices.next();
      }
    }
    const own = [...layers.keys(), ...state.layersOf(writer)];
    const resources = new Map<EntryChange, Resource>();
    const note = (change: EntryChange, { resource }: { readonly resource: Resource }): void => {
      resources.set(change, resource);
    };
    return { changes: await slices.finish(changesBetween(state, desired, own, note)), resources };
  }

  /** With a digest of all its layers and its placement as that of its source, unless it has one. */
  async withDigest(publication: Publication): Promise<Publication> {
    const { layers, placement, origin } = publication;
    if (layers === undefined || origin.digest !== undefined) return publication;
    const { digest } = this.#options;
    const parts: string[] = [];
    for (const [layer, list] of [...layers].sort(([a], [b]) => (a < b ? -1 : 1)))
      parts.push(layer, await this.#sumOf(list));
    const whole = digest([...parts, JSON.stringify(placement ?? null)]).toString(16);
    return { ...publication, origin: { ...origin, digest: whole } };
  }

  /** A sum that does not depend on the order; the same list again costs nothing. */
  async #sumOf(list: readonly Resource[]): Promise<string> {
    const known = this.#sums.get(list);
    if (known !== undefined) return known;
    const sums = new Map<string, bigint>();
    const { slices } = this.#options;
    for (const { type, sum } of list) {
      sums.set(type, addSums(sums.get(type) ?? 0n, sum));
      if (slices.count()) await slices.next();
    }
    const text = [...sums]
      .map(([type, sum]) => `${type} ${sum}`)
      .sort()
      .join("\n");
    this.#sums.set(list, text);
    return text;
  }

  /** What these changes change. */
  async changesBy(published: readonly PublishedChange[], state: LedgerState): Promise<ResourceChanges> {
    const { slices } = this.#options;
    const afters = new Map<string, PlaceAfter>();
    for (const after of placesAfter(published)) {
      afters.set(placeKey(after.place), after);
      if (slices.count()) await slices.next();
    }
    const made = { changes: [], resources: new Map<EntryChange, Resource>() };
    for (const { place, resource } of afters.values()) {
      this.#change(place, resource, state.entry(place), made);
      if (slices.count(resource?.bytes.byteLength)) await slices.next();
    }
    return made;
  }

  #change(
    place: EntryPlace,
    resource: Resource | undefined,
    before: Entry | undefined,
    into: { readonly changes: EntryChange[]; readonly resources: Map<EntryChange, Resource> },
  ): void {
    const after = resource && this.entryOf(resource);
    if (before?.version === after?.version && before?.body === after?.body) return;
    const change = { ...place, before, after };
    into.changes.push(change);
    if (resource !== undefined) into.resources.set(change, resource);
  }
}

/** What is to be at a place; undefined: nothing. */
interface PlaceAfter {
  readonly place: EntryPlace;
  readonly resource: Resource | undefined;
}

function* placesAfter(published: readonly PublishedChange[]): Iterable<PlaceAfter> {
  for (const { layer, puts = [], deletes = [] } of published) {
    for (const resource of puts) yield { place: { layer, type: resource.type, name: resource.name }, resource };
    for (const deletion of deletes)
      yield { place: { layer, type: deletion.type, name: deletedKey(deletion) }, resource: undefined };
  }
}

/** What changes, one after the other, come to: one change for each place. */
export function* joinChanges(all: readonly ResourceChanges[]): Steps<ResourceChanges> {
  let taken = 0;
  const joined = new Map<string, { readonly change: EntryChange; readonly resource: Resource | undefined }>();
  for (const { changes, resources } of all) {
    for (const change of changes) {
      const key = placeKey(change);
      const earlier = joined.get(key);
      const { before } = earlier?.change ?? change;
      joined.set(key, { change: { ...change, before }, resource: resources.get(change) });
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
  }
  const together = { changes: [] as EntryChange[], resources: new Map<EntryChange, Resource>() };
  for (const { change, resource } of joined.values()) {
    together.changes.push(change);
    if (resource !== undefined) together.resources.set(change, resource);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  return together;
}

/** The changes as the server applies them. */
export function* layerChanges({ changes, resources }: ResourceChanges): Steps<readonly LayerChange[]> {
  let taken = 0;
  const layers = new Map<string, { puts: Resource[]; deletes: { type: EntryChange["type"]; name: string }[] }>();
  for (const change of changes) {
    const of = layers.get(change.layer) ?? { puts: [], deletes: [] };
    layers.set(change.layer, of);
    const resource = resources.get(change);
    if (resource !== undefined) of.puts.push(resource);
    else if (change.after === undefined) of.deletes.push({ type: change.type, name: change.name });
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  return [...layers].map(([layer, of]) => ({ layer, ...of }));
}
