import type { Writable } from "node:stream";

/** Maximum bytes of one write: TLS encrypts a whole write at once, even for a client that does not read. */
const SLICE_BYTES = 256 * 1024;

/** Ends a response with its body, slice by slice; calls `taken` after each slice but the last. */
export function writeBody(response: Writable, body: Uint8Array, taken: () => void): void {
  let at = 0;
  const writeNext = (): void => {
    const slice = body.subarray(at, at + SLICE_BYTES);
    at += slice.byteLength;
    if (at >= body.byteLength) {
      response.end(slice);
      return;
    }
    response.write(slice, (error) => {
      if (error !== undefined && error !== null) return; // "close" follows
      taken();
      writeNext();
    });
  };
  writeNext();
}
