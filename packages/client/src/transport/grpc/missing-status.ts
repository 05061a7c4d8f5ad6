import type { Readable } from "node:stream";
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { statusCode } from "@xdskit/protocol/internal";

/** The part of grpc-js that has the HTTP/2 stream of a call. */
interface StreamCall {
  readonly http2Stream: Readable;
  /** That of the response's headers. */
  readonly httpStatusCode?: number;
  getStatus(): StatusObject | null;
  endCall(status: StatusObject): void;
}

const HTTP_OK = 200;

/** How deep grpc-js wraps it, at most. */
const MOST_WRAPPERS = 8;

/**
 * Ends a call when its server closes the stream without a status, as some proxies do. grpc-js goes on waiting for the
 * status, so no response would ever come and nothing would tell. Call it when the headers of the server have arrived.
 */
export function endIfStatusIsMissing(call: object): void {
  const inner = streamCallIn(call);
  if (inner === undefined) return;
  const end = (): void => {
    const { http2Stream, httpStatusCode = HTTP_OK } = inner;
    // A stream that is reset, loses its connection or is not gRPC ends as well, and grpc-js has a status for that.
    if (http2Stream.closed || http2Stream.destroyed || httpStatusCode !== HTTP_OK || inner.getStatus() !== null) return;
    // With OK, grpc-js delivers the messages before it.
    inner.endCall({
      code: statusCode.OK,
      details: "the server ended the stream without a status",
      metadata: new Metadata(),
    });
  };
  if (inner.http2Stream.readableEnded) end();
  else inner.http2Stream.once("end", end);
}

/** Undefined if grpc-js is built otherwise than it is known to be. */
function streamCallIn(call: object): StreamCall | undefined {
  let one: unknown = call;
  for (let depth = 0; depth < MOST_WRAPPERS; depth++) {
    if (typeof one !== "object" || one === null) return undefined;
    if ("http2Stream" in one && "getStatus" in one && "endCall" in one) return one as unknown as StreamCall;
    if ("underlyingCalls" in one && Array.isArray(one.underlyingCalls)) one = one.underlyingCalls[0];
    else if ("child" in one) one = one.child;
    else if ("nextCall" in one) one = one.nextCall;
    else one = "call" in one ? one.call : undefined;
  }
  return undefined;
}
