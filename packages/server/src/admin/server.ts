import { createServer, type Server } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import type { DeliveryTimes } from "../observe/deliveries.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { TlsFiles } from "../options.ts";
import { type InForceCertificates, TlsListener, type TlsReloads } from "../transport/grpc/tls.ts";
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
  readonly tlsReloads?: TlsReloads;
}

const HANDSHAKE_MS = 10_000;
/** Of the port, and of the local socket: callers must not take the files that clients and the history need. */
const MAX_CONNECTIONS = 256;

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
  const serverFor = (callerAt: (socket: Socket) => AdminCaller): Server =>
    createServer((request, response) => {
      answerRequest(request, response, { sources, files, options, caller: callerAt(request.socket) }).catch(
        (cause: unknown) => {
          // The caller left before its request was there.
          if (request.destroyed && !request.complete) return;
          options.onFault?.(request.url ?? "", cause);
          fail(response);
        },
      );
    });
  return new ListeningAdmin(
    options,
    { samples: taken, feed },
    serverFor(callerOf),
    serverFor(() => ({ kind: "socket" })),
  );
}

class ListeningAdmin implements AdminServer {
  readonly #options: AdminServerOptions;
  readonly #live: Pick<AdminSources, "samples" | "feed">;
  readonly #atPort: Server;
  readonly #atPath: Server;
  /** The connections at the port with TLS, also before the end of their handshake. */
  readonly #atTls = new Set<Socket>();
  #tls: TlsListener | undefined;

  constructor(
    options: AdminServerOptions,
    live: Pick<AdminSources, "samples" | "feed">,
    atPort: Server,
    atPath: Server,
  ) {
    this.#options = options;
    this.#live = live;
    this.#atPort = atPort;
    this.#atPath = atPath;
  }

  async start(): Promise<{ readonly host: string; readonly port: number } | undefined> {
    const { listen: address, socket, tls } = this.#options;
    this.#atPath.maxConnections = MAX_CONNECTIONS;
    if (socket !== undefined) await listenAtPath(this.#atPath, socket);
    this.#live.samples.start();
    if (address === undefined) return undefined;
    return await listen(tls === undefined ? this.#atPort : await this.#openTls(tls), address);
  }

  async #openTls(files: TlsFiles): Promise<NetServer> {
    const nothing = { onReloaded: () => undefined, onRefused: () => undefined };
    this.#tls = await TlsListener.open(
      // Health and metrics are for callers without a certificate too.
      { ...files, requireClientCertificate: false },
      {
        onSocket: (socket) => this.#atPort.emit("connection", socket),
        // The role of a connection ends with its certificate; one that only expires soon keeps it.
        onNotice: (socket, notice) => {
          if (notice !== "expiring") socket.destroy();
        },
        handshakeTimeoutMs: HANDSHAKE_MS,
        protocols: ["http/1.1"],
      },
      this.#options.tlsReloads ?? nothing,
    );
    this.#tls.server.on("connection", (socket: Socket) => {
      this.#atTls.add(socket);
      socket.once("close", () => this.#atTls.delete(socket));
    });
    return this.#tls.server;
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
    const closing = Promise.all([this.#atPort, this.#atPath, this.#tls?.server].map((server) => closed(server)));
    for (const server of [this.#atPort, this.#atPath]) server.closeAllConnections();
    for (const socket of this.#atTls) socket.destroy();
    await closing;
  }
}

function listen(
  server: NetServer,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.maxConnections = MAX_CONNECTIONS;
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address();
      // A server that listens at a host and port has an address that is neither a pipe nor nothing.
      if (address === null || typeof address === "string") reject(new Error("the admin API has no address"));
      else resolve({ host: address.address, port: address.port });
    });
  });
}

function closed(server: NetServer | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (server === undefined) resolve();
    else server.close(() => resolve());
  });
}
