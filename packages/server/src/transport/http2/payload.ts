import { ConnectionError } from "./connection-error.ts";
import { errorCode, flag } from "./frame.ts";
import type { Frame } from "./frame-reader.ts";

/** Where the payload begins behind the length of its padding. */
export function unpaddedStart({ flags, start }: Frame): number {
  return (flags & flag.padded) === 0 ? start : start + 1;
}

/** Where the payload ends without its padding. Throws a `ConnectionError` if it is all padding. */
export function unpaddedEnd({ flags, bytes, start, end, type, stream }: Frame): number {
  if ((flags & flag.padded) === 0) return end;
  const padding = bytes[start];
  if (start === end || padding === undefined || start + 1 + padding > end) {
    throw new ConnectionError(errorCode.protocolError, `a frame of type ${type} on ${stream} that is all padding`);
  }
  return end - padding;
}

/** Throws a `ConnectionError` if the payload has another size. */
export function expectBytes({ start, end, type }: Frame, byteLength: number): void {
  if (end - start === byteLength) return;
  throw new ConnectionError(errorCode.frameSizeError, `a frame of type ${type} with ${end - start} bytes`);
}
