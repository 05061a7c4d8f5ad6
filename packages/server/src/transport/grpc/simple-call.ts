import { WireError } from "@xdskit/envoy-api/internal";
import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { GrpcCall } from "./call.ts";
import type { Dismiss } from "./method.ts";

/** A message that is written in consecutive pieces. */
export interface MessagePieces {
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
}

/** The response to one message: a message, or a status that ends the call. */
export type SimpleAnswer = Uint8Array | MessagePieces | Status;

/** Produces a response. A `RangeError` or a `WireError` means that the request is malformed. */
export type Answerer = (request: Uint8Array) => SimpleAnswer | Promise<SimpleAnswer>;

const ok: Status = { code: statusCode.OK, message: "" };

/** Handles a unary call. */
export function answerOnce(call: GrpcCall, answer: Answerer): Dismiss {
  let isAnswered = false;
  call.accept({
    onMessage: async (bytes) => {
      if (isAnswered) return;
      isAnswered = true;
      const said = await orMalformed(() => answer(bytes));
      if (!("code" in said)) await send(call, said);
      call.end("code" in said ? said : ok);
    },
    onHalfClose: () => {
      if (!isAnswered) call.end({ code: statusCode.INVALID_ARGUMENT, message: "expected one request, got none" });
    },
    onFailure: (status) => call.end(status),
    onClose: () => undefined,
  });
  return (status) => call.end(status);
}

/** Handles a stream of requests in order; reads the next one once the client has read the last response. */
export function answerEach(call: GrpcCall, answer: Answerer): Dismiss {
  call.accept({
    onMessage: async (bytes) => {
      const said = await orMalformed(() => answer(bytes));
      if ("code" in said) call.end(said);
      else await send(call, said);
    },
    onHalfClose: () => call.end(ok),
    onFailure: (status) => call.end(status),
    onClose: () => undefined,
  });
  return (status) => call.end(status);
}

async function send(call: GrpcCall, message: Uint8Array | MessagePieces): Promise<void> {
  if (message instanceof Uint8Array) await call.send(message);
  else await call.sendPieces(message.pieces, message.byteLength);
}

async function orMalformed(answer: () => SimpleAnswer | Promise<SimpleAnswer>): Promise<SimpleAnswer> {
  try {
    return await answer();
  } catch (error) {
    return malformed(error);
  }
}

/** The status of a request that cannot be read. Throws what is none of its errors. */
export function malformed(error: unknown): Status {
  if (!(error instanceof RangeError || error instanceof WireError)) throw error;
  return { code: statusCode.INVALID_ARGUMENT, message: `the request is malformed: ${error.message}` };
}
