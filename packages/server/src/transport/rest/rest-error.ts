import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { ResponseHeaders, RestExchange } from "./exchange.ts";

/** HTTP's words for the statuses that a poll is refused with. */
const HTTP_STATUS: ReadonlyMap<number, number> = new Map([
  [statusCode.INVALID_ARGUMENT, 400],
  [statusCode.UNAUTHENTICATED, 401],
  [statusCode.PERMISSION_DENIED, 403],
  [statusCode.NOT_FOUND, 404],
  [statusCode.UNIMPLEMENTED, 404],
  [statusCode.RESOURCE_EXHAUSTED, 429],
  [statusCode.UNAVAILABLE, 503],
]);

export const JSON_HEADERS: ResponseHeaders = { "content-type": "application/json" };

/** A status as HTTP has it; 500 for what it has no word for. */
export function httpStatusOf({ code }: Status): number {
  return HTTP_STATUS.get(code) ?? 500;
}

/** Answers with what is wrong, as `google.rpc.Status` in JSON (S-RST-19). */
export function respondWithError(
  exchange: RestExchange,
  httpStatus: number,
  { code, message }: Status,
  headers: ResponseHeaders = {},
): void {
  exchange.respond(httpStatus, { ...JSON_HEADERS, ...headers }, errorBody({ code, message }));
}

export function errorBody({ code, message }: Status): Uint8Array {
  return Buffer.from(`${JSON.stringify({ code, message })}\n`);
}
