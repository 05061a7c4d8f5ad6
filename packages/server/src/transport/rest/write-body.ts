/** Maximum bytes of one write: TLS encrypts a whole write at once, even for a client that does not read. */
const SLICE_BYTES = 256 * 1024;

import type { Writable } from "node:stream";

/** A response that takes a body in parts. */
export interface BodySink {
  /** Whether nothing can be written any more. */
  isGone(): boolean;
  /** Calls `taken` unless the write fails. */
  write(slice: Uint8Array, taken: () => void): void;
  end(slice: Uint8Array): void;
}

export function sinkOf(response: Writable): BodySink {
  return {
    isGone: () => response.destroyed,
    write: (slice, taken) => {
      response.write(slice, (error) => {
        if (error === undefined || error === null) taken();
      });
    },
    end: (slice) => response.end(slice),
  };
}

/**
 * Ends a response with its body, a slice in a turn of the event loop: a socket may take all of a large body at once. Calls
 * `taken` after each slice but the last.
 */
export function writeBody(response: BodySink, body: Uint8Array, taken: () => void): void {
  let at = 0;
  const writeNext = (): void => {
    const slice = body.subarray(at, at + SLICE_BYTES);
    at += slice.byteLength;
    if (at >= body.byteLength) {
      response.end(slice);
      return;
    }
    response.write(slice, () => {
      taken();
      setImmediate(() => {
        if (!response.isGone()) writeNext();
      });
    });
  };
  writeNext();
}
