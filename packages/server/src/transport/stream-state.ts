import { constants, type ServerHttp2Stream } from "node:http2";

/** Nothing can be answered any more. A stream that was reset is closed for a moment before it is destroyed. */
export function isGone(stream: ServerHttp2Stream): boolean {
  return stream.destroyed || stream.closed;
}

/**
 * The answer was written: a client that still sends is told that nobody listens. Not before all of it left: of a stream that
 * is closed while some of it waits, and destroyed by an error of its session, Node writes empty frames for ever. And not in the same
 * breath: a reset would overtake trailers, and from Node 26 on headers that are the whole answer.
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
