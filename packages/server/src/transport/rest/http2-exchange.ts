import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Peer } from "@xdskit/protocol";
import { isGone, stopReading } from "../stream-state.ts";
import { type BodyOptions, BodyReader, type BodyResult, type ResponseHeaders, type RestExchange } from "./exchange.ts";
import { writeBody } from "./write-body.ts";

/** Headers that HTTP/2 forbids. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection"]);

export interface Http2ExchangeOptions {
  readonly connection: number;
  readonly peer: Peer;
  /** Milliseconds within which the client must read what was written. */
  readonly blockedMs: number;
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
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #options: Http2ExchangeOptions;
  #timeout: NodeJS.Timeout | undefined;
  #isAnswered = false;
  #abort: (() => void) | undefined;
  #dismiss: (() => void) | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: Http2ExchangeOptions) {
    this.#stream = stream;
    this.#headers = headers;
    this.#options = options;
    this.method = headers[":method"] ?? "";
    this.target = headers[":path"] ?? "";
    this.authority = headers[":authority"] ?? headers.host;
    this.connection = options.connection;
    this.peer = options.peer;
    stream.once("close", () => {
      if (!this.#isAnswered) this.#abort?.();
      this.#isAnswered = true;
    });
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === "object" ? value[0] : value;
  }

  readBody({ withinMs, ...options }: BodyOptions): Promise<BodyResult> {
    const stream = this.#stream;
    const body = new BodyReader(options);
    return new Promise((resolve) => {
      const stop = (): void => {
        clearTimeout(timeout);
        stream.off("data", onData).off("end", onEnd).off("close", stop).resume();
        body.clear();
      };
      const end = (result: BodyResult): void => {
        stop();
        resolve(result);
      };
      const onData = (chunk: Uint8Array): void => {
        const passed = body.push(chunk);
        if (passed !== undefined) end(passed);
      };
      const onEnd = (): void => {
        if (!stream.aborted) end(body.take());
      };
      const timeout = setTimeout(() => end("too-slow"), withinMs);
      stream.on("data", onData).on("end", onEnd).on("close", stop);
    });
  }

  respond(status: number, headers: ResponseHeaders, body?: Uint8Array): void {
    const stream = this.#stream;
    if (this.#isAnswered || isGone(stream)) return;
    this.#isAnswered = true;
    const fields = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name));
    const length = body === undefined ? [] : [["content-length", String(body.length)]];
    stream.respond(
      { ":status": status, ...Object.fromEntries([...fields, ...length]) },
      { endStream: body === undefined },
    );
    this.#expectReading();
    stream.once("close", () => clearTimeout(this.#timeout));
    if (body !== undefined) writeBody(stream, body, () => this.#expectReading());
    stopReading(stream);
  }

  /** Starts the timer of the last write. */
  #expectReading(): void {
    clearTimeout(this.#timeout);
    this.#timeout = setTimeout(() => {
      this.#options.onBlocked();
      this.#stream.destroy();
    }, this.#options.blockedMs);
    this.#timeout.unref();
  }

  onAbort(listener: () => void): void {
    if (isGone(this.#stream) && !this.#isAnswered) listener();
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
