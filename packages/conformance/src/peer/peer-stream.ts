import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { FrameError, FrameReader, frameMessage } from "./frame.ts";

export interface PeerStreamOptions {
  /** Ends the stream with DEADLINE_EXCEEDED after so many milliseconds; also told to the server. */
  readonly timeoutMs?: number;
  /** Request headers beside those of gRPC. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** One gRPC stream, in messages. */
export interface PeerStream {
  /** Sends one message. Ignored once the stream is over. */
  send(message: Uint8Array): void;
  /** What the server sends; may be walked once. Ends when the stream does, whatever its status. Not reading it slows the server down. */
  readonly messages: AsyncIterable<Uint8Array>;
  /** Half-closes: nothing more will be sent. */
  end(): void;
  /** Gives the stream up. */
  cancel(): void;
  /** How the stream ended. Never rejects: a lost connection is UNAVAILABLE. */
  readonly status: Promise<Status>;
  /** The response headers; empty if the stream ended without any. */
  readonly headers: Promise<Readonly<Record<string, string>>>;
}

/** Opens a stream on a connection. */
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
    // A reset stream throws here; its status says how it ended.
    if (!(error instanceof FrameError)) return;
    fate.settle({ code: statusCode.INTERNAL, message: error.message });
    stream.close(constants.NGHTTP2_CANCEL);
  }
}

async function* noMessages(): AsyncGenerator<Uint8Array> {}

/** Settles once, with what is known first: trailers, our own giving up, a reset, or the loss of the connection. */
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
    // What an error says is told by `close` as well.
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

/** gRPC percent-encodes the message; a server that does not is read as it is. */
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
