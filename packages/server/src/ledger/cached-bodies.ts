const MOST_BYTES = 32 * 1024 * 1024;

/** Bodies that passed by, so that a copy does not ask for them again; the oldest go first. */
export class CachedBodies {
  readonly #bodies = new Map<string, Uint8Array>();
  #bytes = 0;

  get(digest: string): Uint8Array | undefined {
    return this.#bodies.get(digest);
  }

  add(digest: string, bytes: Uint8Array): void {
    if (this.#bodies.has(digest)) return;
    this.#bodies.set(digest, bytes);
    this.#bytes += bytes.byteLength;
    for (const [oldest, { byteLength }] of this.#bodies) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#bodies.delete(oldest);
      this.#bytes -= byteLength;
    }
  }

  clear(): void {
    this.#bodies.clear();
    this.#bytes = 0;
  }
}
