import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, type Settings } from "node:http2";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  ACK,
  callHeaders,
  END_HEADERS,
  frame,
  frameType,
  PREFACE,
} from "../../../packages/server/test/support/http2-frames.ts";

const PING = Buffer.from("is it ok");
const PONG = frame(frameType.ping, ACK, 0, PING);

/** Somebody with an address of its own, and all connections that it has. */
export class Attacker {
  readonly host: string;
  readonly port: number;
  readonly #sockets = new Set<Socket>();
  #isOver = false;

  constructor(host: string, port: number) {
    this.host = host;
    this.port = port;
  }

  /** The attack is to end: loops look at it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    this.hangUp();
  }

  /** Closes all of its connections. */
  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** A TCP connection that has said nothing yet. What comes is thrown away. */
  async socket(): Promise<Socket> {
    const socket = connect({ host: "127.0.0.1", port: this.port, localAddress: this.host, noDelay: true });
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined);
    socket.resume();
    if (this.#isOver) socket.destroy();
    await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => undefined);
    return socket;
  }

  /** HTTP/2 by hand: the preface and SETTINGS were sent. */
  async frames(settings: Uint8Array = Buffer.alloc(0)): Promise<FrameWriter> {
    const writer = new FrameWriter(await this.socket());
    await writer.write(PREFACE, frame(frameType.settings, 0, 0, settings));
    return writer;
  }

  /** HTTP/2 as Node speaks it. */
  async session(settings: Settings = {}): Promise<ClientHttp2Session> {
    const socket = await this.socket();
    const session = connectHttp2(`http://127.0.0.1:${this.port}`, {
      createConnection: () => socket,
      settings: { initialWindowSize: 1 << 20, ...settings },
      maxSessionMemory: 1_000,
    });
    session.on("error", () => undefined);
    // A session that began on a socket that is gone would wait for ever.
    if (socket.destroyed) session.destroy();
    else socket.once("close", () => session.destroy());
    return session;
  }
}

/** A connection on which frames are written as they are. */
export class FrameWriter {
  readonly socket: Socket;
  readonly #closed: Promise<void>;
  readonly #onPong = new Set<() => void>();
  #stream = 1;

  constructor(socket: Socket) {
    this.socket = socket;
    this.#closed = new Promise((resolve) => {
      if (socket.destroyed) resolve();
      socket.once("close", () => resolve());
    });
    let tail: Uint8Array = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      const seen = Buffer.concat([tail, chunk]);
      if (seen.includes(PONG)) {
        for (const resolve of this.#onPong) resolve();
        this.#onPong.clear();
        tail = Buffer.alloc(0);
      } else tail = seen.subarray(-PONG.byteLength);
    });
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  /** Writes them in one piece; resolves when there is room for more, or nobody to write to. */
  async write(...frames: readonly Uint8Array[]): Promise<void> {
    if (this.isClosed) return;
    if (this.socket.write(Buffer.concat(frames))) return;
    await Promise.race([once(this.socket, "drain").catch(() => undefined), this.#closed]);
  }

  /** Waits until the server has read all that was written: it has answered a PING, or closed the connection. */
  async isRead(): Promise<void> {
    const answered = new Promise<void>((resolve) => this.#onPong.add(resolve));
    await this.write(frame(frameType.ping, 0, 0, PING));
    await Promise.race([answered, this.#closed]);
  }

  /** The HEADERS of a new call, and the stream that it is on. */
  call(path: string): { readonly stream: number; readonly frame: Buffer } {
    const stream = this.#stream;
    this.#stream += 2;
    return { stream, frame: frame(frameType.headers, END_HEADERS, stream, callHeaders(path)) };
  }
}

/** A gRPC call. What comes is thrown away, unless it is paused. */
export function openCall(
  session: ClientHttp2Session,
  path: string,
  metadata: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
  const stream = session.request({ ...headers, ...metadata });
  stream.on("error", () => undefined);
  return stream.resume();
}

/** Sends a message; resolves when there is room for more, or nobody to send to. */
export async function send(stream: ClientHttp2Stream, message: Uint8Array): Promise<void> {
  if (stream.destroyed || stream.write(message)) return;
  await new Promise<void>((resolve) => {
    for (const event of ["drain", "close"]) stream.once(event, () => resolve());
  });
}

/** What an answer to a call is waited for: its first bytes or its end, whichever comes first, for as long as it may take. */
export async function answered(stream: ClientHttp2Stream): Promise<void> {
  if (stream.destroyed) return;
  await new Promise<void>((resolve) => {
    for (const event of ["data", "close", "end"]) stream.once(event, () => resolve());
  });
}

/** The end of a call. */
export async function ended(stream: ClientHttp2Stream): Promise<void> {
  if (!stream.destroyed) await new Promise<void>((resolve) => stream.once("close", () => resolve()));
}

/** Lets the event loop go round, so that what was sent is sent. */
export async function breath(): Promise<void> {
  await pause(1);
}
