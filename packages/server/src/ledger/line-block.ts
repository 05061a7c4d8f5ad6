import { crc32 } from "node:zlib";
import { CHECKSUM_LENGTH } from "./segment-format.ts";

const FIRST_BYTES = 16 * 1024;
/** Larger memory is not kept for the next lines. */
const MOST_KEPT_BYTES = 512 * 1024;
const NEWLINE = 0x0a;

/** Lines that are written together, as bytes: each body is encoded into its place, without a text of its line. */
export class LineBlock {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  /** What was added since it was cleared; it changes with the next line. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  /** Adds text, and returns its length in bytes. */
  addText(text: string): number {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#bytes.write(text, this.#length);
    this.#length += length;
    return length;
  }

  /** Adds the line of a body, as `formatLine` makes it, and returns its length. */
  addBody(digest: string, { buffer, byteOffset, byteLength }: Uint8Array): number {
    const begin = this.#length;
    const head = `body ${digest} `;
    const base64 = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
    this.#reserve(CHECKSUM_LENGTH + head.length + base64.length + 1);
    const bytes = this.#bytes;
    let end = begin + CHECKSUM_LENGTH;
    end += bytes.write(head, end, "latin1");
    end += bytes.write(base64, end, "latin1");
    const checksum = crc32(bytes.subarray(begin + CHECKSUM_LENGTH, end));
    bytes.write(`${checksum.toString(16).padStart(CHECKSUM_LENGTH - 1, "0")} `, begin, "latin1");
    bytes[end] = NEWLINE;
    this.#length = end + 1;
    return this.#length - begin;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
