/** The largest sheet, in bytes: one small resource keeps at most this much memory alive. */
const MOST_ON_SHEET = 8 * 1024;
/** Larger resources get memory of their own. */
const LARGE = MOST_ON_SHEET / 4;

/**
 * Copies resources out of a response, so that one resource does not keep a response of many megabytes alive. Small
 * resources share a sheet, because a buffer of their own would cost more than their bytes. Sheets grow with the amount
 * copied, so that a response with one new resource takes no more than that.
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
