import { WireWriter } from "./writer.ts";

/** A chunk has at least this many bytes, so that none is copied when more is written. */
const CHUNK_BYTES = 256 * 1024;

/** Writes many fields into chunks: neither growing nor finishing copies what was written before. */
export class ChunkedWriter {
  readonly #full: Uint8Array[] = [];
  #fullBytes = 0;
  #writer = new WireWriter();

  get byteLength(): number {
    return this.#fullBytes + this.#writer.written.length;
  }

  /** Returns the chunks, of which the last one is copied. */
  finish(): readonly Uint8Array[] {
    return [...this.#full, this.#writer.finish()];
  }

  /** Writes whole fields, which stay in one chunk. */
  write(fields: (writer: WireWriter) => void): void {
    fields(this.#writer);
    const { written } = this.#writer;
    if (written.length < CHUNK_BYTES) return;
    this.#full.push(written);
    this.#fullBytes += written.length;
    this.#writer = new WireWriter(CHUNK_BYTES * 1.25);
  }
}
