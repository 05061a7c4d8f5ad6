import type { Writable } from "node:stream";

/** Maximum bytes of one write: TLS encrypts a whole write at once, even for a client that does not read. */
const SLICE_BYTES = 256 * 1024;

/**
 * Ends a response with its body, a slice in a turn of the event loop: a socket may take all of a large body at once. Calls
 * `taken` after each slice but the last.
 */
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
      setImmediate(() => {
        if (!response.destroyed) writeNext();
      });
    });
  };
  writeNext();
}
