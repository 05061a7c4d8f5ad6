import type { Peer } from "@xdskit/protocol";
import { startArrivalTimer } from "../arrival-timer.ts";
import { errorCode } from "../http2/frame.ts";
import type { Http2Stream, RequestHeaders } from "../http2/http2.ts";
import { type BodyOptions, BodyReader, type BodyResult, type ResponseHeaders, type RestExchange } from "./exchange.ts";
import { writeBody } from "./write-body.ts";

/** Headers that HTTP/2 forbids. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection"]);

export interface Http2ExchangeOptions {
  readonly connection: number;
  readonly peer: Peer;
  /** Milliseconds within which the client must read what was written. */
  readonly blockedMs: number;
  /** For how many milliseconds the connection has not been read so far. */
  readonly pausedMs: () => number;
  /** Called if the client did not read in time; the stream is closed. */
  readonly onBlocked: () => void;
}

/** One request over HTTP/2. */
export class Http2Exchange implements RestExchange {
  readonly method: string;
  readonly target: string;
  readonly authority: string | undefined;
  readonly connection: number;
  readonly peer: Peer;
  readonly #stream: Http2Stream;
  readonly #headers: RequestHeaders;
  readonly #options: Http2ExchangeOptions;
  #timeout: NodeJS.Timeout | undefined;
  #isAnswered = false;
  #abort: (() => void) | undefined;
  #dismiss: (() => void) | undefined;

  constructor(stream: Http2Stream, headers: RequestHeaders, options: Http2ExchangeOptions) {
    this.#stream = stream;
    this.#headers = headers;
    this.#options = options;
    this.method = headers[":method"] ?? "";
    this.target = headers[":path"] ?? "";
    this.authority = headers[":authority"] ?? headers["host"];
    this.connection = options.connection;
    this.peer = options.peer;
    stream.onClose(() => {
      if (!this.#isAnswered) this.#abort?.();
      this.#isAnswered = true;
    });
  }

  header(name: string): string | undefined {
    return this.#headers[name];
  }

  readBody({ withinMs, ...options }: BodyOptions): Promise<BodyResult> {
    const stream = this.#stream;
    const body = new BodyReader(options);
    return new Promise((resolve) => {
      let isOver = false;
      const stop = (): void => {
        if (isOver) return;
        isOver = true;
        timeout.cancel();
        stream.discard();
        body.clear();
      };
      const end = (result: BodyResult): void => {
        stop();
        resolve(result);
      };
      const timeout = startArrivalTimer(withinMs, this.#options.pausedMs, () => end("too-slow"));
      stream.onClose(stop);
      stream.read({
        onData: (chunk) => {
          const passed = body.push(chunk);
          if (passed !== undefined) end(passed);
        },
        onEnd: () => end(body.take()),
      });
    });
  }

  respond(status: number, headers: ResponseHeaders, body?: Uint8Array): void {
    const stream = this.#stream;
    if (this.#isAnswered || stream.isClosed) return;
    this.#isAnswered = true;
    const fields = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name));
    const length = body === undefined ? [] : [["content-length", String(body.length)]];
    stream.respond({ ":status": status, ...Object.fromEntries([...fields, ...length]) }, body === undefined);
    this.#expectReading();
    stream.onClose(() => clearTimeout(this.#timeout));
    if (body === undefined) return;
    const sink = {
      isGone: () => stream.isClosed,
      write: (slice: Uint8Array, taken: () => void) => stream.write([slice], taken),
      end: (slice: Uint8Array) => {
        stream.write([slice]);
        stream.end();
      },
    };
    writeBody(sink, body, () => this.#expectReading());
  }

  /** Starts the timer of the last write. */
  #expectReading(): void {
    clearTimeout(this.#timeout);
    this.#timeout = setTimeout(() => {
      this.#options.onBlocked();
      this.#stream.reset(errorCode.cancel);
    }, this.#options.blockedMs);
    this.#timeout.unref();
  }

  onAbort(listener: () => void): void {
    if (this.#stream.isClosed && !this.#isAnswered) listener();
    else this.#abort = listener;
  }

  onDismiss(listener: () => void): void {
    this.#dismiss = listener;
  }

  /** The connection wants to close. */
  dismiss(): void {
    if (!this.#isAnswered) this.#dismiss?.();
  }
}
