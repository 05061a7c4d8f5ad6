import { constants, type ServerHttp2Stream } from "node:http2";

/** Whether the stream can no longer be written to. A reset stream is closed for a moment before it is destroyed. */
export function isGone(stream: ServerHttp2Stream): boolean {
  return stream.destroyed || stream.closed;
}

/**
 * Tells a client that still sends that its request is no longer read. Only after the whole response has left: if a
 * stream is closed with data pending and then destroyed by a session error, Node writes empty frames forever. And only
 * in a later turn: a reset would overtake trailers and, from Node 26, headers that are the whole response.
 */
export function stopReading(stream: ServerHttp2Stream): void {
  stream.resume();
  const stop = (): void => {
    if (!stream.readableEnded && !isGone(stream)) stream.close(constants.NGHTTP2_NO_ERROR);
  };
  const stopSoon = (): void => void setImmediate(stop);
  if (stream.writableFinished) stopSoon();
  else stream.once("finish", stopSoon);
}

/** The message about a client that does not read in time. */
export function blockedMessage(maxBlockedMs: number): string {
  return `nothing could be written for ${maxBlockedMs} ms (maxBlockedMs)`;
}

/** Resets a stream unless it closes within a time: its client does not read what was written last. */
export function closeWithin(stream: ServerHttp2Stream, ms: number, late: () => void): void {
  const timeout = setTimeout(() => {
    late();
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }, ms);
  timeout.unref();
  stream.once("close", () => clearTimeout(timeout));
}
