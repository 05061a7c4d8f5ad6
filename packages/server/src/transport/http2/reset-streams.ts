import { REMEMBERED_RESETS } from "./limits.ts";

/** The streams that this side has reset: what is under way of them is ignored. */
export class ResetStreams {
  /** Undefined: none was, as on most connections. */
  #ids: Set<number> | undefined;
  /** Up to this one they may be forgotten. */
  #forgotten = 0;

  add(id: number): void {
    this.#ids ??= new Set();
    this.#ids.add(id);
    if (this.#ids.size <= REMEMBERED_RESETS) return;
    const [oldest = 0] = this.#ids;
    this.#ids.delete(oldest);
    this.#forgotten = Math.max(this.#forgotten, oldest);
  }

  /** The client has reset it, too: nothing more is under way. */
  delete(id: number): void {
    this.#ids?.delete(id);
  }

  /** Whether a closed stream may be one that was reset. */
  mayHave(id: number): boolean {
    return id <= this.#forgotten || this.#ids?.has(id) === true;
  }
}
