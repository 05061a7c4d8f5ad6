import { createServer, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Choice } from "@xdskit/protocol";
import type { NamedChoice } from "@xdskit/protocol/internal";
import { listenError } from "../../error.ts";
import type { HubPort } from "../../hub/port.ts";
import type { Limits } from "../../limits.ts";
import type { Http2Engine, TlsFiles } from "../../options.ts";
import { http2Engines } from "../http2/engines.ts";
import type { ReadPacer } from "../http2/read-pacer.ts";
import type { OpenSockets } from "../open-sockets.ts";
import { addressOf, describePeer } from "../peer.ts";
import { Http1Server } from "../rest/http1-server.ts";
import type { RestServer } from "../rest/rest-server.ts";
import { failedAccept, startListening } from "../start-listening.ts";
import { type BoundAddress, formatAddress, type Transport } from "../transport.ts";
import type { CertificateNotice } from "./certificate-watch.ts";
import { GrpcConnection } from "./connection.ts";
import type { Decompression } from "./decompression.ts";
import { readProtocol } from "./first-bytes.ts";
import type { Intake } from "./intake.ts";
import type { GrpcMethod } from "./method.ts";
import { grpcMethods } from "./services.ts";
import { type InForceCertificates, TlsListener, type TrustFuse } from "./tls.ts";

/**
 * Backlog of unaccepted connections. With Node's default of 511, many clients connecting at once cause seconds of SYN
 * retries.
 */
const BACKLOG = 4_096;
/** A younger connection was perhaps moved here: it stays. */
const MOVED_FROM_MS = 60_000;

export interface GrpcTransportOptions {
  readonly api: EnvoyApi;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | undefined;
  /** Shared by all ports; undefined: no CAs or revocation lists are held. */
  readonly trustFuse?: TrustFuse | undefined;
  readonly limits: Limits;
  /** Methods besides discovery by path: client status, load reports. */
  readonly methods?: ReadonlyMap<string, GrpcMethod>;
  /** The protocol overrides of this port. */
  readonly choice?: Choice & { readonly name?: string | undefined };
  /** Handles requests that are not gRPC, over HTTP/1.1 and HTTP/2. */
  readonly rest: RestServer;
  /** Shared by all ports. */
  readonly sockets: OpenSockets;
  /** Shared by all ports. */
  readonly decompression: Decompression;
  /** Shared by all ports. */
  readonly intake: Intake;
  /** Shared by all ports. */
  readonly readPacer: ReadPacer;
  readonly http2: Http2Engine;
  /** Where another process listens, and hands the connections to this one. */
  readonly handedAt?: BoundAddress | undefined;
}

/** gRPC and REST on one port, plaintext or TLS. */
export class GrpcTransport implements Transport {
  readonly #options: GrpcTransportOptions;
  readonly #methods: ReadonlyMap<string, GrpcMethod>;
  readonly #http1: Http1Server;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Map<Socket, GrpcConnection>();
  readonly #idle: (() => void)[] = [];
  #listener: Server | undefined;
  #tls: TlsListener | undefined;
  /** The protocol overrides, with the name of the port. */
  #choice: NamedChoice | undefined;
  #isDraining = false;

  constructor(options: GrpcTransportOptions) {
    this.#options = options;
    this.#methods = grpcMethods(options.api, options.methods);
    this.#http1 = new Http1Server(options);
    this.#port = options.sockets.addPort();
  }

  async start(hub: HubPort): Promise<BoundAddress> {
    this.#listener = await this.#createListener(hub);
    const { handedAt } = this.#options;
    const address =
      handedAt ??
      (await listen(this.#listener, this.#options, hub).catch((cause: unknown) => {
        this.#tls?.close();
        const { host, port } = this.#options;
        throw listenError(`at ${host}:${port}`, cause);
      }));
    const { name = formatAddress(address), edition, dialect } = this.#options.choice ?? {};
    this.#choice = { name, edition, dialect };
    return address;
  }

  /** Takes a connection that another process accepted. */
  take(socket: Socket): void {
    socket.setNoDelay(true);
    this.#listener?.emit("connection", socket);
  }

  drain(): void {
    this.#isDraining = true;
    this.#listener?.close();
    for (const connection of this.#connections.values()) connection.leave("draining");
    this.#http1.drain();
  }

  /** How many connections over HTTP/2 were not asked to leave. */
  get staying(): number {
    let staying = 0;
    for (const connection of this.#connections.values()) if (!connection.isLeaving) staying++;
    return staying;
  }

  /** Asks so many of them to leave, the oldest first, without those that are young. Returns how many were asked. */
  moveOldest(count: number): number {
    let moved = 0;
    for (const connection of this.#connections.values()) {
      if (moved >= count || connection.ageMs < MOVED_FROM_MS) break;
      if (connection.isLeaving) continue;
      connection.move();
      moved++;
    }
    return moved;
  }

  /** Undefined: without TLS, or before the start. */
  get certificates(): InForceCertificates | undefined {
    return this.#tls?.inForce;
  }

  async reloadCertificates(): Promise<void> {
    await this.#tls?.reload();
  }

  async whenIdle(): Promise<void> {
    await this.#http1.whenIdle();
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  async stop(): Promise<void> {
    this.#tls?.close();
    const closed = closeServer(this.#listener);
    for (const connection of this.#connections.values()) connection.destroy("the server was closed");
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #createListener(hub: HubPort): Promise<Server> {
    const { tls, limits } = this.#options;
    const take = (socket: Socket): void => {
      this.#accept(socket, hub).catch((error: unknown) => {
        hub.report({ kind: "invariant-broken", stream: undefined, during: "accept", error });
        socket.destroy();
      });
    };
    if (tls === undefined) {
      return createServer({ noDelay: true }, (socket) => {
        this.#enter(socket, hub);
        take(socket);
      });
    }
    this.#tls = await TlsListener.open(
      tls,
      {
        onSocket: (socket) => {
          this.#keep(socket);
          take(socket);
        },
        onNotice: (socket, notice) => this.#lapse(socket, notice, hub),
        onHandshakeFailed: (socket, { message }) => {
          const reason = `TLS handshake failed: ${message}`;
          hub.report({ kind: "connection-refused", address: addressOf(socket), reason });
        },
        handshakeTimeoutMs: limits.handshakeTimeoutMs,
        protocols: ["h2", "http/1.1"],
        fuse: this.#options.trustFuse,
      },
      {
        onReloaded: (files) => hub.report({ kind: "tls-reloaded", files }),
        onRefused: (files, error) => hub.report({ kind: "tls-refused", files, error }),
        onHeld: ({ id, files, message }) => hub.report({ kind: "tls-held", id, files, message }),
      },
    );
    this.#tls.server.on("connection", (socket: Socket) => this.#enter(socket, hub));
    return this.#tls.server;
  }

  /** Keeps a socket that was just accepted; one of those that have not spoken yet may have to go for it. */
  #enter(socket: Socket, hub: HubPort): void {
    this.#keep(socket);
    const address = addressOf(socket);
    if (address === undefined) {
      socket.destroy();
      return;
    }
    const { sockets, limits } = this.#options;
    const silent = sockets.add(this.#keyOf(address), socket);
    if (silent === undefined) return;
    const silentAddress = addressOf(silent);
    const message = `closed before the client said anything: ${limits.maxConnections} connections are the limit (maxConnections)`;
    if (silentAddress !== undefined) hub.reportLimit("maxConnections", silentAddress, message);
    silent.destroy();
  }

  /** The key of an open socket. */
  #keyOf(address: string): string {
    return `${this.#port} ${address}`;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined); // "close" follows
  }

  async #accept(socket: Socket, hub: HubPort): Promise<void> {
    if (socket.destroyed) return;
    const peer = describePeer(socket);
    const protocol = await readProtocol(socket, this.#options.limits.handshakeTimeoutMs);
    this.#options.sockets.speaks(this.#keyOf(peer.address));
    if (socket.destroyed) return;
    if (protocol === "http1") {
      this.#http1.accept(socket, peer, { hub, listener: this.#choice });
      return;
    }
    if (protocol === "nothing" || protocol === "unknown") {
      const reason = "neither HTTP/2 nor HTTP/1 was spoken";
      if (protocol === "unknown") hub.report({ kind: "connection-refused", address: peer.address, reason });
      socket.destroy();
      return;
    }
    const { limits, rest, decompression, intake, readPacer, http2 } = this.#options;
    const options = {
      hub,
      limits,
      methods: this.#methods,
      listener: this.#choice,
      rest,
      decompression,
      intake,
      readPacer,
      openHttp2: http2Engines[http2],
    };
    const connection = GrpcConnection.open(socket, peer, options);
    if (connection === undefined) return;
    this.#connections.set(socket, connection);
    connection.onClose(() => this.#forget(socket));
    if (this.#isDraining) connection.leave("draining");
  }

  /** The certificate of a client expires, or is not trusted any more. */
  #lapse(socket: TLSSocket, notice: CertificateNotice, hub: HubPort): void {
    if (socket.destroyed) return;
    hub.report({ kind: "certificate-ended", peer: describePeer(socket), reason: notice });
    const connection = this.#connections.get(socket);
    if (connection !== undefined) connection.lapse(notice);
    else if (notice === "expiring") this.#http1.leave(socket);
    else socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#connections.delete(socket);
    if (this.#connections.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

async function listen(server: Server, { host, port }: GrpcTransportOptions, hub: HubPort): Promise<BoundAddress> {
  const bound = (): BoundAddress => {
    const address = server.address();
    return typeof address === "object" && address !== null
      ? { host: address.address, port: address.port }
      : { host, port };
  };
  await startListening(server, { host, port, backlog: BACKLOG }, (cause) =>
    hub.report(failedAccept(formatAddress(bound()), cause)),
  );
  return bound();
}

async function closeServer(server: Server | undefined): Promise<void> {
  if (server === undefined) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve()); // also when it is closed already
  });
}
