import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Peer } from "@xdskit/protocol";
import { isGone, stopReading } from "../stream-state.ts";
import { BODY_WITHIN_MS, BodyReader, type ResponseHeaders, type RestExchange } from "./exchange.ts";

/** Headers that HTTP/2 does not have. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection"]);

/** One request over HTTP/2. */
export class Http2Exchange implements RestExchange {
  readonly method: string;
  readonly target: string;
  readonly connection: number;
  readonly peer: Peer;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #blockedMs: number;
  #isAnswered = false;
  #abort: (() => void) | undefined;
  #dismiss: (() => void) | undefined;

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    { connection, peer, blockedMs }: { readonly connection: number; readonly peer: Peer; readonly blockedMs: number },
  ) {
    this.#stream = stream;
    this.#headers = headers;
    this.#blockedMs = blockedMs;
    this.method = headers[":method"] ?? "";
    this.target = headers[":path"] ?? "";
    this.connection = connection;
    this.peer = peer;
    stream.once("close", () => {
      if (!this.#isAnswered) this.#abort?.();
      this.#isAnswered = true;
    });
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === "object" ? value[0] : value;
  }

  readBody(maxBytes: number): Promise<Uint8Array | "too-long" | "too-slow"> {
    const stream = this.#stream;
    const body = new BodyReader(maxBytes);
    return new Promise((resolve) => {
      const end = (result: Uint8Array | "too-long" | "too-slow"): void => {
        clearTimeout(timeout);
        stream.off("data", onData).off("end", onEnd).resume();
        resolve(result);
      };
      const onData = (chunk: Uint8Array): void => {
        if (!body.push(chunk)) end("too-long");
      };
      const onEnd = (): void => {
        if (!stream.aborted) end(body.take());
      };
      const timeout = setTimeout(() => end("too-slow"), BODY_WITHIN_MS);
      stream.once("close", () => clearTimeout(timeout));
      stream.on("data", onData).on("end", onEnd);
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
    if (body !== undefined) stream.end(body);
    stopReading(stream);
    const timeout = setTimeout(() => stream.destroy(), this.#blockedMs);
    timeout.unref();
    stream.once("close", () => clearTimeout(timeout));
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
