import { type Status, statusCode } from "@xdskit/protocol";
import type { GrpcCall } from "./call.ts";
import type { Dismiss } from "./method.ts";

/** What is answered to one message: messages, or a status that ends the call. */
export type SimpleAnswer = Uint8Array | Status;

const ok: Status = { code: statusCode.OK, message: "" };

/** One request, one answer. */
export function answerOnce(call: GrpcCall, answer: (request: Uint8Array) => SimpleAnswer): Dismiss {
  let isAnswered = false;
  call.accept({
    onMessage: async (bytes) => {
      if (isAnswered) return;
      isAnswered = true;
      const said = orMalformed(() => answer(bytes));
      if (said instanceof Uint8Array) await call.send(said);
      call.end(said instanceof Uint8Array ? ok : said);
    },
    onHalfClose: () => {
      if (!isAnswered) call.end({ code: statusCode.INVALID_ARGUMENT, message: "expected one request, got none" });
    },
    onFailure: (status) => call.end(status),
    onClose: () => undefined,
  });
  return (status) => call.end(status);
}

/** Each request gets its answer, in order; the next is read when the client has taken the last. */
export function answerEach(call: GrpcCall, answer: (request: Uint8Array) => SimpleAnswer): Dismiss {
  call.accept({
    onMessage: async (bytes) => {
      const said = orMalformed(() => answer(bytes));
      if (said instanceof Uint8Array) await call.send(said);
      else call.end(said);
    },
    onHalfClose: () => call.end(ok),
    onFailure: (status) => call.end(status),
    onClose: () => undefined,
  });
  return (status) => call.end(status);
}

function orMalformed(answer: () => SimpleAnswer): SimpleAnswer {
  try {
    return answer();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { code: statusCode.INVALID_ARGUMENT, message: `the request is malformed: ${error.message}` };
  }
}
