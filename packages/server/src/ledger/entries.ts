import type { LayerChange, Resource } from "@xdskit/protocol";
import {
  addSums,
  changesBetween,
  type Digest,
  deletedKey,
  type Entry,
  type EntryChange,
  type EntryPlace,
  type LedgerState,
  type PlacedEntry,
  placeKey,
} from "@xdskit/protocol/internal";
import { encodeBody } from "./body.ts";
import type { Publication, PublishedChange } from "./publication.ts";

export interface EntryMakerOptions {
  readonly digest: Digest;
  /** Such resources are recorded by their versions, without a body. */
  readonly holdsSecret: (resource: Resource) => boolean;
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
  readonly #entries = new WeakMap<Resource, Entry>();
  readonly #sums = new WeakMap<readonly Resource[], string>();

  constructor(options: EntryMakerOptions) {
    this.#options = options;
  }

  entryOf(resource: Resource): Entry {
    const known = this.#entries.get(resource);
    if (known !== undefined) return known;
    const { digest, holdsSecret } = this.#options;
    const { version, bytes } = resource;
    const body = holdsSecret(resource) ? undefined : encodeBody(resource, digest).id;
    const entry = { version, body, size: bytes.byteLength };
    this.#entries.set(resource, entry);
    return entry;
  }

  /** Takes the entry of a resource whose content is not here. */
  know(resource: Resource, entry: Entry): void {
    this.#entries.set(resource, entry);
  }

  /** The bodies of these resources by their digests, without secrets. */
  bodiesOf(resources: Iterable<Resource>): ReadonlyMap<string, Uint8Array> {
    const bodies = new Map<string, Uint8Array>();
    for (const resource of resources) {
      if (this.entryOf(resource).body === undefined) continue;
      const { id, bytes } = encodeBody(resource, this.#options.digest);
      bodies.set(id, bytes);
    }
    return bodies;
  }

  /** What changes if these are all resources of all layers of a writer. */
  changesTo(layers: ReadonlyMap<string, readonly Resource[]>, writer: string, state: LedgerState): ResourceChanges {
    const wanted = new Map<string, Resource>();
    const desired: PlacedEntry[] = [];
    for (const [layer, list] of layers) {
      for (const resource of list) {
        const place = { layer, type: resource.type, name: resource.name };
        wanted.set(placeKey(place), resource);
        desired.push({ ...place, entry: this.entryOf(resource) });
      }
    }
    const own = new Set(layers.keys());
    for (const { layer } of state.entries()) if (state.writerOf(layer) === writer) own.add(layer);
    const changes = changesBetween(state, desired, own);
    const resources = new Map<EntryChange, Resource>();
    for (const change of changes) {
      const resource = change.after && wanted.get(placeKey(change));
      if (resource !== undefined) resources.set(change, resource);
    }
    return { changes, resources };
  }

  /** With a digest of all its layers and its placement as that of its source, unless it has one. */
  withDigest(publication: Publication): Publication {
    const { layers, placement, origin } = publication;
    if (layers === undefined || origin.digest !== undefined) return publication;
    const { digest } = this.#options;
    const parts = [...layers]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([layer, list]) => [layer, this.#sumOf(list)]);
    const whole = digest([...parts, JSON.stringify(placement ?? null)]).toString(16);
    return { ...publication, origin: { ...origin, digest: whole } };
  }

  /** A sum that does not depend on the order; the same list again costs nothing. */
  #sumOf(list: readonly Resource[]): string {
    const known = this.#sums.get(list);
    if (known !== undefined) return known;
    const sums = new Map<string, bigint>();
    for (const { type, sum } of list) sums.set(type, addSums(sums.get(type) ?? 0n, sum));
    const text = [...sums]
      .map(([type, sum]) => `${type} ${sum}`)
      .sort()
      .join("\n");
    this.#sums.set(list, text);
    return text;
  }

  /** What these changes change. */
  changesBy(published: readonly PublishedChange[], state: LedgerState): ResourceChanges {
    const afters = new Map<string, { readonly place: EntryPlace; readonly resource: Resource | undefined }>();
    const note = (place: EntryPlace, resource: Resource | undefined): void => {
      afters.set(placeKey(place), { place, resource });
    };
    for (const { layer, puts = [], deletes = [] } of published) {
      for (const resource of puts) note({ layer, type: resource.type, name: resource.name }, resource);
      for (const deletion of deletes) note({ layer, type: deletion.type, name: deletedKey(deletion) }, undefined);
    }
    const made = { changes: [], resources: new Map<EntryChange, Resource>() };
    for (const { place, resource } of afters.values()) this.#change(place, resource, state.entry(place), made);
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

/** The changes as the server applies them. */
export function layerChanges({ changes, resources }: ResourceChanges): readonly LayerChange[] {
  const layers = new Map<string, { puts: Resource[]; deletes: { type: EntryChange["type"]; name: string }[] }>();
  for (const change of changes) {
    const of = layers.get(change.layer) ?? { puts: [], deletes: [] };
    layers.set(change.layer, of);
    const resource = resources.get(change);
    if (resource !== undefined) of.puts.push(resource);
    else if (change.after === undefined) of.deletes.push({ type: change.type, name: change.name });
  }
  return [...layers].map(([layer, of]) => ({ layer, ...of }));
}
