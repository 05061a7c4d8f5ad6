import { type ClientHttp2Session, connect, constants } from "node:http2";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { openPeerStream, type PeerStream, type PeerStreamOptions } from "./peer-stream.ts";

/** TLS options; contents of PEM files, not paths. */
export interface PeerTls {
  /** Trusted CA certificates, instead of the system's. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The expected name in the server's certificate. @default the host of the address */
  readonly serverName?: string;
}

export interface PeerOptions {
  /** `host:port`. */
  readonly address: string;
  readonly tls?: PeerTls;
  /** Time limit for connecting, in milliseconds. @default 5000 */
  readonly connectTimeoutMs?: number;
  /**
   * Flow-control window of the connection and of each stream, in bytes; small values make a slow reader. @default 16
   * MiB
   */
  readonly windowBytes?: number;
  /** The largest message to accept, in bytes (B-GRP-08). @default 256 MiB */
  readonly maxMessageBytes?: number;
}

/** A gRPC connection to a server, which opens streams by method path. */
export interface WirePeer extends AsyncDisposable {
  /**
   * Opens a bidirectional stream on a method such as
   * `/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters`.
   */
  open(path: string, options?: PeerStreamOptions): PeerStream;
  /** Sends an HTTP/2 PING; resolves with the round trip time in milliseconds. */
  ping(): Promise<number>;
  /** Resolves with the HTTP/2 error code when the server sends GOAWAY or the connection ends. */
  readonly leaving: Promise<number>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Closes the connection; open streams end with UNAVAILABLE. */
  close(): Promise<void>;
}

/** The connection could not be established. */
export class PeerConnectionError extends Error {
  override readonly name = "PeerConnectionError";
}

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
const DEFAULT_WINDOW_BYTES = 16 * 1024 * 1024;
const DEFAULT_MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** Connects to an xDS server. Throws a `PeerConnectionError` if it times out or does not speak HTTP/2. */
export async function connectPeer(options: PeerOptions): Promise<WirePeer> {
  const windowBytes = options.windowBytes ?? DEFAULT_WINDOW_BYTES;
  const socket = openSocket(options);
  const session = connect(`${options.tls === undefined ? "http" : "https"}://${options.address}`, {
    settings: { initialWindowSize: windowBytes, enablePush: false },
    createConnection: () => socket,
  });
  await established(session, options);
  session.setLocalWindowSize(windowBytes);
  return peerOver(session, socket, options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES);
}

function openSocket(options: PeerOptions): Socket {
  const { hostname, port } = new URL(`http://${options.address}`);
  const target = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port === "" ? 80 : port) };
  const { tls } = options;
  if (tls === undefined) return connectTcp({ ...target, noDelay: true });
  const secure: ConnectionOptions = { ...target, ALPNProtocols: ["h2"] };
  if (tls.ca !== undefined) secure.ca = tls.ca;
  if (tls.cert !== undefined) secure.cert = tls.cert;
  if (tls.key !== undefined) secure.key = tls.key;
  secure.servername = tls.serverName ?? (isIP(target.host) === 0 ? target.host : "");
  return connectTls(secure);
}

/** Waits for the server's SETTINGS: a server of another protocol accepts TCP and never sends them. */
function established(session: ClientHttp2Session, options: PeerOptions): Promise<void> {
  const timeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      session.off("error", onError).off("close", onClose).off("remoteSettings", onSettings);
    };
    const fail = (reason: string, cause?: unknown): void => {
      settle();
      session.on("error", () => {}).destroy();
      reject(new PeerConnectionError(`${options.address}: ${reason}`, { cause }));
    };
    const timer = setTimeout(() => fail(`no HTTP/2 server answered within ${timeoutMs} ms`), timeoutMs);
    const onError = (error: Error): void => fail(error.message, error);
    const onClose = (): void => fail("the connection was closed at once");
    const onSettings = (): void => {
      settle();
      resolve();
    };
    session.on("error", onError).on("close", onClose).on("remoteSettings", onSettings);
  });
}

function peerOver(session: ClientHttp2Session, socket: Socket, maxMessageBytes: number): WirePeer {
  const leaving = new Promise<number>((resolve) => {
    session.once("goaway", resolve);
    session.once("close", () => resolve(constants.NGHTTP2_NO_ERROR));
  });
  const closed = new Promise<void>((resolve) => session.once("close", () => resolve()));
  // Streams report a broken connection in their status.
  session.on("error", () => {});
  const close = async (): Promise<void> => {
    session.destroy();
    // The session ends its socket gracefully after a GOAWAY, and would wait for the server to do the same.
    socket.destroy();
    await closed;
  };
  return {
    open: (path, options = {}) => openPeerStream(session, path, { maxMessageBytes, ...options }),
    ping: () =>
      new Promise((resolve, reject) => {
        session.ping((error, ms) => (error === null ? resolve(ms) : reject(error)));
      }),
    leaving,
    closed,
    close,
    [Symbol.asyncDispose]: close,
  };
}
