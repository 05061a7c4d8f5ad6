import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { ResponseFields } from "../http2/header-encoder.ts";
import type { RequestHeaders } from "../http2/http2.ts";

/** The compression of a request's messages. */
export type Compression = "identity" | "gzip" | "deflate";

/** The parsed headers of a request. */
export interface CallHeaders {
  readonly path: string;
  readonly compression: Compression;
  /** Undefined: no deadline, as for discovery streams. */
  readonly timeoutMs: number | undefined;
}

/** The plain HTTP response to headers that are not a gRPC call. */
export interface HeaderRefusal {
  readonly headers: ResponseFields;
  readonly body: string;
}

const ACCEPTED = "identity,gzip,deflate";

/** The response headers of a call. */
export const responseHeaders: ResponseFields = Object.freeze({
  ":status": 200,
  "content-type": "application/grpc",
  "grpc-accept-encoding": ACCEPTED,
});

/** Parses the headers of a request. Returns an HTTP rejection if it is not gRPC, a status if the call is invalid. */
export function parseHeaders(headers: RequestHeaders): CallHeaders | Status | HeaderRefusal {
  const path = headers[":path"] ?? "";
  if (headers[":method"] !== "POST") {
    return {
      headers: { ":status": 405, allow: "POST" },
      body: "this port speaks gRPC: POST with content-type application/grpc\n",
    };
  }
  if (!isGrpc(headers["content-type"])) {
    return { headers: { ":status": 415 }, body: "expected content-type application/grpc\n" };
  }
  const compression = headers["grpc-encoding"] ?? "identity";
  if (!isCompression(compression)) {
    return {
      code: statusCode.UNIMPLEMENTED,
      message: `grpc-encoding "${compression}" is not known; known are ${ACCEPTED}`,
    };
  }
  const timeout = headers["grpc-timeout"];
  if (timeout === undefined) return { path, compression, timeoutMs: undefined };
  const timeoutMs = parseTimeout(timeout);
  if (timeoutMs === undefined) return { code: statusCode.INTERNAL, message: `grpc-timeout "${timeout}" is malformed` };
  return { path, compression, timeoutMs };
}

/** Whether a content type is that of gRPC calls. */
export function isGrpc(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/grpc(?:$|[+;])/i.test(contentType);
}

function isCompression(name: unknown): name is Compression {
  return name === "identity" || name === "gzip" || name === "deflate";
}

const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** Parses a `grpc-timeout` such as `10S` into milliseconds; undefined if invalid. */
export function parseTimeout(text: string): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  const unitMs = UNIT_MS[match?.[2] ?? ""];
  return match === null || unitMs === undefined ? undefined : Number(match[1]) * unitMs;
}

const MAX_MESSAGE_CHARACTERS = 2_000;

/** A status as trailers. */
export function formatTrailers({ code, message }: Status): ResponseFields {
  if (message === "") return { "grpc-status": String(code) };
  return { "grpc-status": String(code), "grpc-message": encodeMessage(message.slice(0, MAX_MESSAGE_CHARACTERS)) };
}

/** Percent-encodes a message as gRPC requires: everything but printable ASCII, and the percent sign. */
export function encodeMessage(message: string): string {
  let encoded = "";
  for (const byte of Buffer.from(message, "utf8")) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}
