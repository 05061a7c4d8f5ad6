import type { ReadInput } from "./resource-input.ts";

/** The resources of one layer, in the order in which they were given. */
export class HeldLayer {
  readonly #byKey = new Map<string, ReadInput>();
  readonly #byDigest = new Map<bigint, ReadInput>();

  get size(): number {
    return this.#byKey.size;
  }

  get all(): Iterable<ReadInput> {
    return this.#byKey.values();
  }

  get(key: string): ReadInput | undefined {
    return this.#byKey.get(key);
  }

  /** Returns the resource that was read from equal input, so that it need not be read again. */
  recall(digest: bigint | undefined): ReadInput | undefined {
    return digest === undefined ? undefined : this.#byDigest.get(digest);
  }

  /** Returns the resource that it replaces. */
  put(read: ReadInput): ReadInput | undefined {
    const replaced = this.#byKey.get(read.key);
    this.#forget(replaced);
    this.#byKey.set(read.key, read);
    if (read.digest !== undefined) this.#byDigest.set(read.digest, read);
    return replaced;
  }

  delete(key: string): void {
    this.#forget(this.#byKey.get(key));
    this.#byKey.delete(key);
  }

  *keysNotIn(other: HeldLayer): Iterable<string> {
    for (const key of this.#byKey.keys()) if (other.get(key) === undefined) yield key;
  }

  #forget(read: ReadInput | undefined): void {
    if (read?.digest !== undefined) this.#byDigest.delete(read.digest);
  }
}
