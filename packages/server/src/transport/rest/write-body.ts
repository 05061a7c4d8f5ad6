import type { Writable } from "node:stream";

/** What one write may hold: TLS encrypts a whole write at once, also for a client that does not read. */
const SLICE_BYTES = 256 * 1024;

/** Ends a response with its body, a slice behind the other; `taken` is called when one left and more is to come. */
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
