/** The smallest resource keeps no more bytes alive. */
const MOST_ON_SHEET = 8 * 1024;
/** What is larger has bytes of its own. */
const LARGE = MOST_ON_SHEET / 4;

/**
 * Copies of what stands in one response: that may be many megabytes, and no resource is to keep the whole of it alive. Small ones that come
 * together share a sheet of memory, as one of its own costs more than the bytes of most. Sheets grow with what was copied, so that a response
 * with one that is new takes no more than that.
 */
export class Copies {
  #sheet = new ArrayBuffer(0);
  #used = 0;
  #copied = 0;

  of(bytes: Uint8Array): Uint8Array {
    const { length } = bytes;
    if (length > LARGE) return new Uint8Array(bytes);
    if (length > this.#sheet.byteLength - this.#used) {
      this.#sheet = new ArrayBuffer(Math.max(length, Math.min(this.#copied, MOST_ON_SHEET)));
      this.#used = 0;
    }
    const copy = new Uint8Array(this.#sheet, this.#used, length);
    copy.set(bytes);
    this.#used += length;
    this.#copied += length;
    return copy;
  }
}
