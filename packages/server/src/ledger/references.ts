import type { Resource, TypeUrl } from "@xdskit/protocol";
import { type EntryPlace, placeKey, type Steps, type TypeKind, typeKindTable } from "@xdskit/protocol/internal";
import type { ResourceChanges } from "./entries.ts";

/** A resource and the layer that it is in. */
export interface PlacedResource {
  readonly layer: string;
  readonly resource: Resource;
}

/**
 * Which stable resources in force refer to a name. Built when it is first asked, because most servers never delete live
 * data alone, and kept up to date from then on.
 */
export class References {
  readonly #inForce: () => Iterable<PlacedResource>;
  readonly #kindOf: (type: TypeUrl) => TypeKind;
  /** The layers of the referring resources, by the name that they refer to and then by their place. */
  #referrers: Map<string, Map<string, string>> | undefined;
  /** The names to which each resource refers, by its place. */
  readonly #names = new Map<string, readonly string[]>();

  constructor(inForce: () => Iterable<PlacedResource>, kindOf: (type: TypeUrl) => TypeKind) {
    this.#inForce = inForce;
    this.#kindOf = kindOf;
  }

  /** The changes come in force. */
  *changed({ changes, resources }: ResourceChanges): Steps<void> {
    if (this.#referrers === undefined) return;
    for (const change of changes) {
      yield;
      if (this.#isLive(change)) continue;
      this.#remove(placeKey(change));
      const resource = resources.get(change);
      if (resource !== undefined) this.#add(change.layer, resource);
    }
  }

  /** The layers of what refers to a name, by place. */
  to({ type, name }: Pick<EntryPlace, "type" | "name">): ReadonlyMap<string, string> {
    if (this.#referrers === undefined) {
      this.#referrers = new Map();
      for (const { layer, resource } of this.#inForce()) if (!this.#isLive(resource)) this.#add(layer, resource);
    }
    return this.#referrers.get(`${type} ${name}`) ?? new Map();
  }

  #add(layer: string, { type, name, references }: Resource): void {
    if (references.length === 0) return;
    const key = placeKey({ layer, type, name });
    const names = references.map((reference) => `${reference.type} ${reference.name}`);
    this.#names.set(key, names);
    for (const one of names) {
      const referrers = this.#referrers?.get(one) ?? new Map<string, string>();
      this.#referrers?.set(one, referrers.set(key, layer));
    }
  }

  #remove(key: string): void {
    for (const name of this.#names.get(key) ?? []) {
      const referrers = this.#referrers?.get(name);
      referrers?.delete(key);
      if (referrers?.size === 0) this.#referrers?.delete(name);
    }
    this.#names.delete(key);
  }

  #isLive({ type }: { readonly type: TypeUrl }): boolean {
    return typeKindTable[this.#kindOf(type)].isLive;
  }
}
