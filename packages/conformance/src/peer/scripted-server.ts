import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import {
  createRequestReader,
  type DiscoveryMethod,
  findDiscoveryMethod,
  type RequestReader,
} from "@xdskit/envoy-api/internal";
import { type DiscoveryRequest, statusCode } from "@xdskit/protocol/internal";
import { FrameReader, frameMessage } from "./frame.ts";

/** Events of a scripted server. */
export interface ScriptedServerListener {
  opened(stream: ScriptedStream): void;
  request(stream: ScriptedStream, request: DiscoveryRequest): void;
  /** The client closed the stream; not called for streams that the server ended. */
  closed(stream: ScriptedStream): void;
}

/** The server's side of a stream. */
export interface ScriptedStream {
  readonly method: DiscoveryMethod;
  /** Sends an encoded response. */
  send(response: Uint8Array): void;
  /** Sends literal bytes, which need not be gRPC frames. */
  sendRaw(bytes: Uint8Array): void;
  /** Ends the stream with a status code. */
  end(code: number): void;
}

/** A gRPC server that sends only what it is told to, correct or not. */
export interface ScriptedServer {
  /** `host:port`. */
  readonly address: string;
  close(): Promise<void>;
}

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Starts the server on a loopback port. */
export async function startScriptedServer(listener: ScriptedServerListener): Promise<ScriptedServer> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    // A broken connection ends its streams, which is reported.
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => accept(stream, String(headers[":path"]), listener));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: addressOf(server), close: () => close(server, sessions) };
}

function addressOf(server: Http2Server): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen on a port");
  return `${address.address}:${address.port}`;
}

async function close(server: Http2Server, sessions: ReadonlySet<ServerHttp2Session>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const session of sessions) session.destroy();
  await closed;
}

function accept(stream: ServerHttp2Stream, path: string, listener: ScriptedServerListener): void {
  // `close` reports a reset too.
  stream.on("error", () => {});
  const method = findDiscoveryMethod(path);
  if (method === undefined || method.call === "fetch") {
    stream.respond(trailersOnly(statusCode.UNIMPLEMENTED), { endStream: true });
    return;
  }
  const scripted = new OpenScriptedStream(stream, method);
  listener.opened(scripted);
  const frames = new FrameReader(MAX_MESSAGE_BYTES);
  const reader: RequestReader = createRequestReader(method.call);
  stream.on("data", (chunk: Uint8Array) => {
    for (const message of frames.push(chunk)) listener.request(scripted, reader.read(Uint8Array.from(message)));
  });
  stream.on("close", () => {
    if (!scripted.isOver) listener.closed(scripted);
  });
}

class OpenScriptedStream implements ScriptedStream {
  readonly method: DiscoveryMethod;
  readonly #stream: ServerHttp2Stream;
  #isOver = false;

  constructor(stream: ServerHttp2Stream, method: DiscoveryMethod) {
    this.#stream = stream;
    this.method = method;
    stream.respond(responseHeaders, { waitForTrailers: true });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  send(response: Uint8Array): void {
    this.sendRaw(frameMessage(response));
  }

  sendRaw(bytes: Uint8Array): void {
    if (!this.#stream.destroyed) this.#stream.write(bytes);
  }

  end(code: number): void {
    this.#isOver = true;
    if (this.#stream.destroyed) return;
    this.#stream.on("wantTrailers", () => this.#stream.sendTrailers({ "grpc-status": String(code) }));
    this.#stream.end();
  }
}

const responseHeaders = { ":status": 200, "content-type": "application/grpc" };

function trailersOnly(code: number): Readonly<Record<string, string | number>> {
  return { ...responseHeaders, "grpc-status": String(code) };
}
