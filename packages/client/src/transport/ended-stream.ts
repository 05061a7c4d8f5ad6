import type { Status } from "@xdskit/protocol";
import type { ClientStream, StreamListener } from "./transport.ts";

/** A stream that ends with a status soon after it opens, because it cannot be tried. */
export function endedStream(status: Status, listener: StreamListener): ClientStream {
  let isClosed = false;
  queueMicrotask(() => {
    if (!isClosed) listener.ended(status);
  });
  return {
    send() {},
    close() {
      isClosed = true;
    },
  };
}
