import type { Status } from "@xdskit/protocol";
import type { ClientStream, StreamListener } from "./transport.ts";

/** A stream that cannot even be tried: it ends with a status, soon. */
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
