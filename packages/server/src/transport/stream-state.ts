import { errorCode } from "./http2/frame.ts";
import type { Http2Stream } from "./http2/http2.ts";

/** The message about a client that does not read in time. */
export function blockedMessage(maxBlockedMs: number): string {
  return `nothing could be written for ${maxBlockedMs} ms (maxBlockedMs)`;
}

/** Resets a stream unless it closes within a time: its client does not read what was written last. */
export function closeWithin(stream: Http2Stream, ms: number, late: () => void): void {
  const timeout = setTimeout(() => {
    late();
    stream.reset(errorCode.enhanceYourCalm);
  }, ms);
  timeout.unref();
  stream.onClose(() => clearTimeout(timeout));
}
