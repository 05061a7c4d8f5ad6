import type { Resource, TypeUrl } from "@xdskit/protocol";
import { plainName } from "@xdskit/protocol/internal";
import type { ReadInput } from "./resource-input.ts";

/** What identifies a resource in its layer. */
export type ResourceId = Pick<Resource, "type" | "name">;

/** The resources of one layer: by type, then in the order in which they were given. */
export class HeldLayer {
  readonly #byType = new Map<TypeUrl, Map<string, ReadInput>>();
  /** The names of the variants, by type and then by the name that they share. */
  readonly #variants = new Map<TypeUrl, Map<string, Set<string>>>();
  /** Made when something is first looked for, because a layer that is set once needs none. */
  #byDigest: Map<bigint, ReadInput> | undefined;

  get isEmpty(): boolean {
    return this.all.next().done === true;
  }

  get all(): IterableIterator<ReadInput> {
    return this.#all();
  }

  get({ type, name }: ResourceId): ReadInput | undefined {
    return this.#byType.get(type)?.get(name);
  }

  /** The resource of that name, and all its variants. */
  *named({ type, name }: ResourceId): Iterable<ResourceId> {
    if (this.get({ type, name }) !== undefined) yield { type, name };
    for (const variant of this.#variants.get(type)?.get(name) ?? []) yield { type, name: variant };
  }

  /** Returns the resource that was read from equal input, so that it need not be read again. */
  recall(digest: bigint | undefined): ReadInput | undefined {
    if (digest === undefined || this.#byType.size === 0) return undefined;
    this.#byDigest ??= byDigest(this.#all());
    return this.#byDigest.get(digest);
  }

  /** Returns the resource that it replaces. */
  put(read: ReadInput): ReadInput | undefined {
    const { type, name } = read.resource;
    let ofType = this.#byType.get(type);
    if (ofType === undefined) {
      ofType = new Map();
      this.#byType.set(type, ofType);
    }
    const replaced = ofType.get(name);
    this.#forget(replaced);
    ofType.set(name, read);
    if (replaced === undefined) this.#addVariant(type, name);
    if (read.digest !== undefined) this.#byDigest?.set(read.digest, read);
    return replaced;
  }

  delete({ type, name }: ResourceId): void {
    const ofType = this.#byType.get(type);
    this.#forget(ofType?.get(name));
    ofType?.delete(name);
    const variants = this.#variants.get(type);
    const ofName = variants?.get(plainName(name));
    if (ofName?.delete(name) === true && ofName.size === 0) variants?.delete(plainName(name));
  }

  #addVariant(type: TypeUrl, name: string): void {
    const shared = plainName(name);
    if (shared === name) return;
    const variants = this.#variants.get(type) ?? new Map<string, Set<string>>();
    this.#variants.set(type, variants);
    const ofName = variants.get(shared) ?? new Set<string>();
    variants.set(shared, ofName);
    ofName.add(name);
  }

  *notIn(other: HeldLayer): Iterable<ResourceId> {
    for (const { resource } of this.#all()) if (other.get(resource) === undefined) yield resource;
  }

  *#all(): IterableIterator<ReadInput> {
    for (const ofType of this.#byType.values()) for (const read of ofType.values()) yield read;
  }

  #forget(read: ReadInput | undefined): void {
    if (read?.digest !== undefined) this.#byDigest?.delete(read.digest);
  }
}

function byDigest(all: Iterable<ReadInput>): Map<bigint, ReadInput> {
  const found = new Map<bigint, ReadInput>();
  for (const read of all) if (read.digest !== undefined) found.set(read.digest, read);
  return found;
}
