import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server as NetServer, Socket } from "node:net";
import type { DeliveryTimes } from "../observe/deliveries.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { TlsFiles } from "../options.ts";
import { type InForceCertificates, TlsListener, type TlsReloads } from "../transport/grpc/tls.ts";
import { OpenSockets } from "../transport/open-sockets.ts";
import { startListening } from "../transport/start-listening.ts";
import { type BoundAddress, formatAddress } from "../transport/transport.ts";
import { type AdminCaller, callerOf } from "./access.ts";
import { type AdminAdmissionOptions, answerRequest } from "./answer-request.ts";
import { ConsoleFiles } from "./console.ts";
import { Describer } from "./describe.ts";
import { EventFeed } from "./live/event-feed.ts";
import { Samples } from "./live/samples.ts";
import { listenAtPath } from "./local-socket.ts";
import type { AdminSources, SharedSources } from "./route.ts";
import { routes } from "./route-table.ts";
import type { AdminView } from "./view.ts";
import { fail } from "./write-answer.ts";

export interface AdminServerOptions extends AdminAdmissionOptions {
  readonly view: AdminView;
  readonly metrics: Metrics;
  readonly deliveries: DeliveryTimes;
  /** Undefined: no port. Port 0: the system picks a free one. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** The path of a local socket, whose callers are operators. */
  readonly socket?: string | undefined;
  /** With it, the certificates of clients decide at the port, on loopback too. */
  readonly tls?: TlsFiles | undefined;
  /** Receives internal errors of routes. */
  readonly onFault?: (path: string, cause: unknown) => void;
  /** A connection was not accepted, at an address or a local socket. */
  readonly onFailedAccept?: (where: string, cause: Error) => void;
  readonly tlsReloads?: TlsReloads;
  /** @default a minute for the headers, five for the body, one in which nothing is read, and ten for the whole answer */
  readonly times?: AdminTimes;
}

const HANDSHAKE_MS = 10_000;
/** Of the port, and of the local socket: callers must not take the files that clients and the history need. */
const MAX_CONNECTIONS = 256;
const TIMES: AdminTimes = { headMs: 60_000, requestMs: 300_000, blockedMs: 60_000, answerMs: 600_000 };

/** How long callers may take, in milliseconds. */
export interface AdminTimes {
  /** From the connection, or the last answer, to the end of the headers. */
  readonly headMs: number;
  /** To the end of the body. */
  readonly requestMs: number;
  /** To read anything of what was written. */
  readonly blockedMs: number;
  /** To read the whole answer, if it has an end. */
  readonly answerMs: number;
}

/** The admin API: resources, clients, deliveries and the history. */
export interface AdminServer {
  /** Starts listening. Rejects with the system's error if it cannot. */
  start(): Promise<{ readonly host: string; readonly port: number } | undefined>;
  /** Undefined: without TLS, or before the start. */
  readonly certificates: InForceCertificates | undefined;
  /** Reloads the TLS files now. */
  reloadCertificates(): Promise<void>;
  /** Stops listening and ends open responses. */
  close(): Promise<void>;
}

/** Creates what routes read. */
export function createAdminSources({
  view,
  deliveries,
  metrics,
}: Pick<AdminServerOptions, "view" | "deliveries" | "metrics">): SharedSources {
  return {
    ...{ view, deliveries, metrics, routes },
    describe: new Describer(deliveries, view),
    feed: new EventFeed(view),
    samples: new Samples(view, deliveries),
  };
}

export function createAdminServer(options: AdminServerOptions): AdminServer {
  const sources = createAdminSources(options);
  const { feed, samples: taken } = sources;
  const files = new ConsoleFiles();
  const { blockedMs, answerMs: withinMs } = options.times ?? TIMES;
  const answer: Answering = (request, response, { caller, onKnown }) => {
    // While the server works on its answer, the caller has nothing to read.
    response.setTimeout(blockedMs, () => {
      if (request.socket.writableLength > 0) request.socket.destroy();
    });
    answerRequest(request, response, { sources, files, options, caller, onKnown, withinMs }).catch((cause: unknown) => {
      // The caller left before its request was there.
      if (request.destroyed && !request.complete) return;
      options.onFault?.(request.url ?? "", cause);
      fail(response);
    });
  };
  return new ListeningAdmin(options, { samples: taken, feed }, inTurn(answer));
}

interface Asker {
  readonly caller: AdminCaller;
  readonly onKnown: () => void;
}

type Answering = (request: IncomingMessage, response: ServerResponse, asker: Asker) => void;

/**
 * Answers the requests of a connection one after another, each in a turn of the event loop: thousands fit into one
 * packet. Node tells only the response whose turn it is that its connection was closed.
 */
function inTurn(answer: Answering): Answering {
  return (request, response, asker) => {
    if (response.socket !== null) {
      answer(request, response, asker);
      return;
    }
    response.once("socket", ({ destroyed }: Socket) => {
      if (destroyed) return;
      setImmediate(() => {
        if (!request.socket.destroyed) answer(request, response, asker);
      });
    });
  };
}

class ListeningAdmin implements AdminServer {
  readonly #options: AdminServerOptions;
  readonly #live: Pick<AdminSources, "samples" | "feed">;
  readonly #answer: Answering;
  readonly #atPath: HttpServer;
  /** The connections at the port, also before the end of their handshake. */
  readonly #connections = new Set<Socket>();
  /** Whoever has no role makes room for those that come after, and may have one. */
  readonly #sockets = new OpenSockets(MAX_CONNECTIONS);
  #atPort: NetServer | undefined;
  #tls: TlsListener | undefined;

  constructor(options: AdminServerOptions, live: Pick<AdminSources, "samples" | "feed">, answer: Answering) {
    this.#options = options;
    this.#live = live;
    this.#answer = answer;
    this.#atPath = createServer(this.#times, (request, response) =>
      answer(request, response, { caller: { kind: "socket" }, onKnown: () => undefined }),
    );
    this.#atPath.maxConnections = MAX_CONNECTIONS;
  }

  async start(): Promise<{ readonly host: string; readonly port: number } | undefined> {
    const { listen: address, socket, tls, onFailedAccept } = this.#options;
    if (socket !== undefined) await listenAtPath(this.#atPath, socket, (cause) => onFailedAccept?.(socket, cause));
    this.#live.samples.start();
    if (address === undefined) return undefined;
    const ask: RequestListener = (request, response) =>
      this.#answer(request, response, {
        caller: callerOf(request.socket),
        onKnown: () => this.#sockets.speaks(keyOf(request.socket)),
      });
    this.#atPort = tls === undefined ? createServer(this.#times, ask) : await this.#createTls(tls, ask);
    this.#atPort.on("connection", (socket: Socket) => this.#enter(socket));
    return await listen(this.#atPort, address, (where, cause) => onFailedAccept?.(where, cause));
  }

  get #times(): ServerOptions {
    const { headMs, requestMs } = this.#options.times ?? TIMES;
    return {
      headersTimeout: headMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(headMs, requestMs) / 2,
    };
  }

  async #createTls(files: TlsFiles, ask: RequestListener): Promise<NetServer> {
    const nothing = { onReloaded: () => undefined, onRefused: () => undefined };
    this.#tls = await TlsListener.open(
      // Health and metrics are for callers without a certificate too.
      { ...files, requireClientCertificate: false },
      {
        createServer: (options) => createTlsServer({ ...options, ...this.#times }, ask),
        // The role of a connection ends with its certificate; one that only expires soon keeps it.
        onNotice: (socket, notice) => {
          if (notice !== "expiring") socket.destroy();
        },
        handshakeTimeoutMs: HANDSHAKE_MS,
        protocols: ["http/1.1"],
      },
      this.#options.tlsReloads ?? nothing,
    );
    return this.#tls.server;
  }

  #enter(socket: Socket): void {
    this.#connections.add(socket);
    socket.once("close", () => this.#connections.delete(socket));
    this.#sockets.add(keyOf(socket), socket)?.destroy();
  }

  get certificates(): InForceCertificates | undefined {
    return this.#tls?.inForce;
  }

  async reloadCertificates(): Promise<void> {
    await this.#tls?.reload();
  }

  async close(): Promise<void> {
    this.#live.samples.close();
    this.#live.feed.close();
    this.#tls?.close();
    const closing = Promise.all([this.#atPort, this.#atPath].map((server) => closed(server)));
    this.#atPath.closeAllConnections();
    for (const socket of this.#connections) socket.destroy();
    await closing;
  }
}

/** The same for a connection and for TLS on it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

async function listen(
  server: NetServer,
  { host, port }: BoundAddress,
  onFailedAccept: (where: string, cause: Error) => void,
): Promise<BoundAddress> {
  const bound = (): BoundAddress => {
    const address = server.address();
    return typeof address === "object" && address !== null
      ? { host: address.address, port: address.port }
      : { host, port };
  };
  await startListening(server, { host, port }, (cause) => onFailedAccept(formatAddress(bound()), cause));
  return bound();
}

function closed(server: NetServer | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (server === undefined) resolve();
    else server.close(() => resolve());
  });
}
