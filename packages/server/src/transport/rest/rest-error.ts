import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { retryHintMs } from "../retry-hint.ts";
import type { ResponseHeaders, RestExchange } from "./exchange.ts";

/** HTTP statuses of the gRPC statuses that reject a poll. */
const HTTP_STATUS: ReadonlyMap<number, number> = new Map([
  [statusCode.INVALID_ARGUMENT, 400],
  [statusCode.UNAUTHENTICATED, 401],
  [statusCode.PERMISSION_DENIED, 403],
  [statusCode.NOT_FOUND, 404],
  [statusCode.UNIMPLEMENTED, 404],
  [statusCode.RESOURCE_EXHAUSTED, 429],
  [statusCode.UNAVAILABLE, 503],
]);

/** No browser takes a body for something that it runs. */
export const JSON_HEADERS: ResponseHeaders = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
};

/** The HTTP status of a gRPC status; 500 if it has none. */
export function httpStatusOf({ code }: Status): number {
  return HTTP_STATUS.get(code) ?? 500;
}

/**
 * Responds with an error as `google.rpc.Status` in JSON (S-RST-19), and with a time to come again if the server is not
 * ready. A limit that was exceeded may be one of the request itself, which passes at no other time.
 */
export function respondWithError(
  exchange: RestExchange,
  httpStatus: number,
  { code, message }: Status,
  headers: ResponseHeaders = {},
): void {
  const hint: ResponseHeaders = httpStatus === 503 ? { "retry-after": String(Math.round(retryHintMs() / 1_000)) } : {};
  exchange.respond(httpStatus, { ...JSON_HEADERS, ...hint, ...headers }, errorBody({ code, message }));
}

export function errorBody({ code, message }: Status): Uint8Array {
  return Buffer.from(`${JSON.stringify({ code, message })}\n`);
}
