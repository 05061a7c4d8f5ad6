import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { FrameError, FrameReader, frameMessage } from "./frame.ts";

export interface PeerStreamOptions {
  /** Timeout in milliseconds: ends the stream with DEADLINE_EXCEEDED, and is sent to the server. */
  readonly timeoutMs?: number;
  /** Additional request headers. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** One gRPC stream of messages. */
export interface PeerStream {
  /** Sends a message; ignored once the stream has ended. */
  send(message: Uint8Array): void;
  /**
   * Messages from the server, to be iterated once; ends with the stream, whatever its status. Not reading applies
   * backpressure to the server.
   */
  readonly messages: AsyncIterable<Uint8Array>;
  /** Half-closes the stream: the client sends nothing more. */
  end(): void;
  /** Cancels the stream. */
  cancel(): void;
  /** The stream's status. Never rejects: a lost connection is UNAVAILABLE. */
  readonly status: Promise<Status>;
  /** The response headers; empty if the stream ended without any. */
  readonly headers: Promise<Readonly<Record<string, string>>>;
}

/** Opens a stream on a connection. It has ended with UNAVAILABLE if the connection is closed. */
export function openPeerStream(
  session: ClientHttp2Session,
  path: string,
  options: PeerStreamOptions & { readonly maxMessageBytes: number },
): PeerStream {
  const fate = new StreamFate();
  if (session.destroyed || session.closed) {
    fate.settle({ code: statusCode.UNAVAILABLE, message: "the connection is closed" });
    return { send() {}, messages: noMessages(), end() {}, cancel() {}, status: fate.status, headers: fate.headers };
  }
  const stream = session.request(requestHeaders(path, options), { endStream: false });
  fate.watch(stream, options.timeoutMs);
  return {
    send(message) {
      if (!stream.writableEnded && !stream.destroyed) stream.write(frameMessage(message));
    },
    messages: readMessages(stream, new FrameReader(options.maxMessageBytes), fate),
    end: () => void stream.end(),
    cancel() {
      fate.settle({ code: statusCode.CANCELLED, message: "cancelled by this side" });
      stream.close(constants.NGHTTP2_CANCEL);
    },
    status: fate.status,
    headers: fate.headers,
  };
}

function requestHeaders(path: string, options: PeerStreamOptions): Record<string, string> {
  return {
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...(options.timeoutMs === undefined ? {} : { "grpc-timeout": `${options.timeoutMs}m` }),
    ...options.metadata,
  };
}

async function* readMessages(
  stream: ClientHttp2Stream,
  reader: FrameReader,
  fate: StreamFate,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield* reader.push(chunk as Uint8Array);
  } catch (error) {
    // A reset stream throws here; the status tells how it ended.
    if (!(error instanceof FrameError)) return;
    fate.settle({ code: statusCode.INTERNAL, message: error.message });
    stream.close(constants.NGHTTP2_CANCEL);
  }
}

async function* noMessages(): AsyncGenerator<Uint8Array> {}

/** The status of a stream; the first cause wins: trailers, our timeout, a reset, or a lost connection. */
class StreamFate {
  readonly status: Promise<Status>;
  readonly headers: Promise<Readonly<Record<string, string>>>;
  #resolveStatus: (status: Status) => void = () => {};
  #resolveHeaders: (headers: Readonly<Record<string, string>>) => void = () => {};

  constructor() {
    this.status = new Promise((resolve) => {
      this.#resolveStatus = resolve;
    });
    this.headers = new Promise((resolve) => {
      this.#resolveHeaders = resolve;
    });
  }

  settle(status: Status): void {
    this.#resolveStatus(status);
    this.#resolveHeaders({});
  }

  watch(stream: ClientHttp2Stream, timeoutMs: number | undefined): void {
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#giveUp(stream, timeoutMs), timeoutMs);
    stream.on("response", (headers) => {
      if (headers["grpc-status"] !== undefined) this.settle(statusOf(headers));
      else if (headers[":status"] !== 200) this.settle(statusOfHttp(headers[":status"] ?? 0));
      else this.#resolveHeaders(plain(headers));
    });
    stream.on("trailers", (trailers) => this.settle(statusOf(trailers)));
    // `close` reports the error too.
    stream.on("error", () => {});
    stream.on("close", () => {
      clearTimeout(timer);
      const isConnectionLost = stream.session === undefined || stream.session.destroyed;
      this.settle(isConnectionLost ? connectionLost : statusOfReset(stream.rstCode));
    });
  }

  #giveUp(stream: ClientHttp2Stream, timeoutMs: number): void {
    this.settle({ code: statusCode.DEADLINE_EXCEEDED, message: `not over after ${timeoutMs} ms` });
    stream.close(constants.NGHTTP2_CANCEL);
  }
}

function statusOf(headers: IncomingHttpHeaders): Status {
  const code = Number(headers["grpc-status"] ?? statusCode.UNKNOWN);
  const message = headers["grpc-message"];
  return { code, message: typeof message === "string" ? decodeMessage(message) : "" };
}

/** gRPC percent-encodes the message; messages that are not encoded are returned unchanged. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function statusOfHttp(status: number): Status {
  const code = status === 404 ? statusCode.UNIMPLEMENTED : statusCode.UNKNOWN;
  return { code, message: `HTTP status ${status} instead of a gRPC answer` };
}

function statusOfReset(rstCode: number | undefined): Status {
  if (rstCode === undefined || rstCode === constants.NGHTTP2_NO_ERROR) {
    return { code: statusCode.UNKNOWN, message: "the stream ended without a status" };
  }
  const code = RESET_STATUS.get(rstCode) ?? statusCode.INTERNAL;
  return { code, message: `the stream was reset with HTTP/2 error ${rstCode}` };
}

const connectionLost: Status = { code: statusCode.UNAVAILABLE, message: "the connection was lost" };

const RESET_STATUS: ReadonlyMap<number, number> = new Map([
  [constants.NGHTTP2_REFUSED_STREAM, statusCode.UNAVAILABLE],
  [constants.NGHTTP2_CANCEL, statusCode.CANCELLED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, statusCode.RESOURCE_EXHAUSTED],
]);

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name] = Array.isArray(value) ? value.join(", ") : String(value);
  }
  return result;
}
