import type { SecureClientSessionOptions } from "node:http2";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";

/** How long anything may take before a test gives up on it. */
const WITHIN_MS = 5_000;

/** Rejects, naming what was awaited, when it takes too long. */
export async function within<T>(what: string, promise: Promise<T>, ms: number = WITHIN_MS): Promise<T> {
  let timeout: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timeout = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timeout);
  }
}

/** Waits until a socket is closed, by whatever it was. */
export async function closed(socket: Socket): Promise<void> {
  socket.on("error", () => undefined);
  await within("the end of a connection", new Promise<void>((resolve) => socket.once("close", () => resolve())));
}

/** Waits until a condition holds, looking every few milliseconds. */
export async function until(what: string, condition: () => boolean, ms: number = WITHIN_MS): Promise<void> {
  const giveUpAt = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`waited ${ms} ms until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export interface CallStatus {
  readonly code: number;
  readonly message: string;
}

/** An HTTP/2 client that does exactly what it is told: no retries, no hidden reads. */
export class RawPeer {
  readonly session: ClientHttp2Session;
  isGone = false;
  goaways = 0;

  private constructor(session: ClientHttp2Session) {
    this.session = session;
    session.on("error", () => undefined);
    session.on("goaway", () => {
      this.goaways++;
    });
    session.once("close", () => {
      this.isGone = true;
    });
  }

  static async connect(
    address: { host: string; port: number },
    options: SecureClientSessionOptions = {},
  ): Promise<RawPeer> {
    const scheme = options.ca === undefined ? "http" : "https";
    const session = connect(`${scheme}://${address.host}:${address.port}`, options);
    const peer = new RawPeer(session);
    await within(
      "a connection",
      new Promise<void>((resolve, reject) => {
        session.once("connect", () => resolve());
        session.once("error", reject);
      }),
    );
    return peer;
  }

  open(path: string, headers: Record<string, string> = {}): RawCall {
    const stream = this.session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    return new RawCall(stream);
  }

  async close(): Promise<void> {
    if (this.isGone) return;
    const closed = new Promise<void>((resolve) => this.session.once("close", () => resolve()));
    this.session.destroy();
    await closed;
  }
}

/** One call of a raw peer. */
export class RawCall {
  readonly stream: ClientHttp2Stream;
  readonly headers: Promise<IncomingHttpHeaders>;
  readonly status: Promise<CallStatus>;
  readonly #messages: Uint8Array[] = [];
  #received = Buffer.alloc(0);
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  receivedBytes = 0;

  constructor(stream: ClientHttp2Stream) {
    this.stream = stream;
    this.headers = new Promise((resolve) => {
      stream.once("response", resolve);
    });
    this.status = new Promise((resolve) => {
      let said: CallStatus | undefined;
      const note = (headers: IncomingHttpHeaders): void => {
        const code = headers["grpc-status"];
        if (code !== undefined)
          said = { code: Number(code), message: decodeURIComponent(String(headers["grpc-message"] ?? "")) };
      };
      stream.once("response", note);
      stream.once("trailers", note);
      stream.once("close", () => resolve(said ?? { code: -1, message: `reset ${stream.rstCode}` }));
    });
    stream.on("error", () => undefined);
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  /** Sends one framed message. */
  send(message: Uint8Array, options: { compressed?: boolean } = {}): void {
    const prefix = Buffer.alloc(5);
    prefix[0] = options.compressed === true ? 1 : 0;
    prefix.writeUInt32BE(message.byteLength, 1);
    this.stream.write(Buffer.concat([prefix, message]));
  }

  /** The next message. */
  async next(ms?: number): Promise<Uint8Array> {
    await until("a message", () => this.#messages.length > 0, ms);
    const message = this.#messages.shift();
    if (message === undefined) throw new Error("no message");
    return message;
  }

  /** How many messages arrived that were not taken by `next`. */
  get waiting(): number {
    return this.#messages.length;
  }

  end(): void {
    this.stream.end();
  }

  cancel(): void {
    this.stream.close(8);
  }

  #take(chunk: Buffer): void {
    this.receivedBytes += chunk.byteLength;
    this.#chunks.push(chunk);
    this.#chunkBytes += chunk.byteLength;
    if (this.#received.byteLength + this.#chunkBytes < this.#wantedBytes()) return;
    this.#received = Buffer.concat([this.#received, ...this.#chunks]);
    this.#chunks = [];
    this.#chunkBytes = 0;
    while (this.#received.byteLength >= 5 && this.#received.byteLength >= this.#wantedBytes()) {
      const end = this.#wantedBytes();
      this.#messages.push(this.#received.subarray(5, end));
      this.#received = this.#received.subarray(end);
    }
  }

  #wantedBytes(): number {
    return this.#received.byteLength < 5 ? 5 : 5 + this.#received.readUInt32BE(1);
  }
}
