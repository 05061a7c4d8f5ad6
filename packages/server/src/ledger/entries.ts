import type { LayerChange, Resource } from "@xdskit/protocol";
import {
  type Digest,
  deletedKey,
  type Entry,
  type EntryChange,
  type EntryPlace,
  type LedgerState,
  placeKey,
} from "@xdskit/protocol/internal";
import { encodeBody } from "./body.ts";
import type { PublishedChange } from "./publication.ts";

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
    const changes: EntryChange[] = [];
    const resources = new Map<EntryChange, Resource>();
    const stays = new Map<string, Map<string, Set<string>>>();
    for (const [layer, list] of layers) {
      const types = new Map<string, Set<string>>();
      stays.set(layer, types);
      for (const resource of list) {
        const { type, name } = resource;
        const names = types.get(type) ?? new Set();
        types.set(type, names.add(name));
        this.#change({ layer, type, name }, resource, state.entry({ layer, type, name }), { changes, resources });
      }
    }
    for (const { layer, type, name, entry } of state.entries()) {
      const isAnothers = !stays.has(layer) && state.writerOf(layer) !== writer;
      if (isAnothers || stays.get(layer)?.get(type)?.has(name) === true) continue;
      changes.push({ layer, type, name, before: entry, after: undefined });
    }
    return { changes, resources };
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
