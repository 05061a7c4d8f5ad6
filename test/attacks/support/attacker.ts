import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, type Settings } from "node:http2";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
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

/** An attacker with its own address, and all of its connections. */
export class Attacker {
  readonly host: string;
  readonly port: number;
  readonly #tls: ConnectionOptions | undefined;
  readonly #sockets = new Set<Socket>();
  #isOver = false;

  /** With TLS options it is the identity of their certificate, in whatever it does. */
  constructor(host: string, port: number, tls?: ConnectionOptions) {
    this.host = host;
    this.port = port;
    this.#tls = tls;
  }

  /** Whether the attack must end; loops check it. */
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

  /** Opens a connection without sending anything; received bytes are discarded. */
  async socket(port = this.port): Promise<Socket> {
    if (this.#tls !== undefined && port === this.port) {
      // Without ALPN, so that the first bytes say what it speaks.
      const secured = this.#keep(connectTls({ ...this.#destination(port), ...this.#tls }));
      secured.setNoDelay(true).resume();
      await Promise.race([once(secured, "secureConnect"), once(secured, "close")]).catch(() => undefined);
      return secured;
    }
    const socket = this.#keep(connect({ ...this.#destination(port), noDelay: true }));
    socket.resume();
    await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => undefined);
    return socket;
  }

  /** Opens a TLS connection to another port of the server; nothing is read from it after the handshake. */
  async unreadTlsSocket(port: number): Promise<TLSSocket> {
    const socket = this.#keep(connectTls({ ...this.#destination(port), rejectUnauthorized: false }));
    await Promise.race([once(socket, "secureConnect"), once(socket, "close")]).catch(() => undefined);
    return socket;
  }

  /** Opens HTTP/2 with literal frames; sends the preface and SETTINGS. */
  async frames(settings: Uint8Array = Buffer.alloc(0)): Promise<FrameWriter> {
    const writer = new FrameWriter(await this.socket());
    await writer.write(PREFACE, frame(frameType.settings, 0, 0, settings));
    return writer;
  }

  /** Opens HTTP/2 with Node's own client. */
  async session(settings: Settings = {}): Promise<ClientHttp2Session> {
    return this.#sessionOver(await this.socket(), settings);
  }

  #sessionOver(socket: Socket, settings: Settings): ClientHttp2Session {
    const session = connectHttp2(`http://127.0.0.1:${this.port}`, {
      createConnection: () => socket,
      settings: { initialWindowSize: 1 << 20, ...settings },
      maxSessionMemory: 1_000,
    });
    session.on("error", () => undefined);
    // A session on a closed socket would never end.
    if (socket.destroyed) session.destroy();
    else socket.once("close", () => session.destroy());
    return session;
  }

  /** Opens HTTP/2 over TLS with a certificate. */
  async tlsSession(tls: ConnectionOptions): Promise<ClientHttp2Session> {
    const socket = this.#keep(connectTls({ ...this.#destination(this.port), ALPNProtocols: ["h2"], ...tls }));
    await Promise.race([once(socket, "secureConnect"), once(socket, "close")]).catch(() => undefined);
    return this.#sessionOver(socket, {});
  }

  #destination(port: number): { readonly host: string; readonly port: number; readonly localAddress: string } {
    return { host: "127.0.0.1", port, localAddress: this.host };
  }

  #keep<T extends Socket>(socket: T): T {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined);
    if (this.#isOver) socket.destroy();
    return socket;
  }
}

/** A connection on which literal frames are written. */
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

  /** Writes frames in one piece; resolves when the socket accepts more, or is closed. */
  async write(...frames: readonly Uint8Array[]): Promise<void> {
    if (this.isClosed) return;
    if (this.socket.write(Buffer.concat(frames))) return;
    await Promise.race([once(this.socket, "drain").catch(() => undefined), this.#closed]);
  }

  /** Waits until the server has read everything: it answered a PING, or closed the connection. */
  async isRead(): Promise<void> {
    const answered = new Promise<void>((resolve) => this.#onPong.add(resolve));
    await this.write(frame(frameType.ping, 0, 0, PING));
    await Promise.race([answered, this.#closed]);
  }

  /** The HEADERS frame of a new call, and its stream. */
  call(path: string): { readonly stream: number; readonly frame: Buffer } {
    const stream = this.#stream;
    this.#stream += 2;
    return { stream, frame: frame(frameType.headers, END_HEADERS, stream, callHeaders(path)) };
  }
}

/** Opens a gRPC call; received data is discarded unless the stream is paused. */
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

/** Sends a message; resolves when the stream accepts more, or is closed. */
export async function send(stream: ClientHttp2Stream, message: Uint8Array): Promise<void> {
  if (stream.destroyed || stream.write(message)) return;
  await new Promise<void>((resolve) => {
    for (const event of ["drain", "close"]) stream.once(event, () => resolve());
  });
}

/** Waits for the first bytes of a response or for the end of the call, without a time limit. */
export async function answered(stream: ClientHttp2Stream): Promise<void> {
  if (stream.destroyed) return;
  await new Promise<void>((resolve) => {
    for (const event of ["data", "close", "end"]) stream.once(event, () => resolve());
  });
}

/** Resolves when the call ends. */
export async function ended(stream: ClientHttp2Stream): Promise<void> {
  if (!stream.destroyed) await new Promise<void>((resolve) => stream.once("close", () => resolve()));
}

/** Yields to the event loop, so that written data is sent. */
export async function breath(): Promise<void> {
  await pause(1);
}
