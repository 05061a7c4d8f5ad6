import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Peer, Status } from "@xdskit/protocol";
import { type NamedChoice, statusCode } from "@xdskit/protocol/internal";
import type { HubPort } from "../../hub/port.ts";
import type { Limits } from "../../limits.ts";
import { blockedMessage } from "../stream-state.ts";
import { type BodyOptions, BodyReader, type BodyResult, type ResponseHeaders, type RestExchange } from "./exchange.ts";
import { errorBody } from "./rest-error.ts";
import type { RestServer } from "./rest-server.ts";
import { sinkOf, writeBody } from "./write-body.ts";

/** Timeouts of clients, in milliseconds. */
export interface ClientTimes {
  /** From one response to the end of the next request's headers: limits idle and slow clients. */
  readonly headMs: number;
}

const CLIENT_TIMES: ClientTimes = { headMs: 60_000 };
/** Jitter of the connection age, as a share of it, so that connections opened together do not close together. */
const AGE_JITTER = 0.1;

export interface Http1Options {
  readonly rest: RestServer;
  readonly limits: Pick<Limits, "maxBlockedMs" | "maxConnectionAgeMs">;
  /**
   * Timeouts.
   * @default one minute for headers
   */
  readonly times?: ClientTimes;
}

export interface Http1Ports {
  readonly hub: HubPort;
  /** The protocol overrides of the port. */
  readonly listener?: NamedChoice | undefined;
}

/** HTTP/1.1 on sockets that another server accepted. */
export class Http1Server {
  readonly #options: Http1Options;
  readonly #server: Server;
  readonly #connections = new Map<Socket, Http1Connection>();
  readonly #idle: (() => void)[] = [];
  #isDraining = false;

  constructor(options: Http1Options) {
    this.#options = options;
    // Timeouts are enforced here: Node enforces them only for sockets that it accepted itself.
    const times = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };
    this.#server = createServer({ ...times, requireHostHeader: false }, (request, response) => {
      const connection = this.#connections.get(request.socket);
      if (connection === undefined) request.socket.destroy();
      // Behind another answer it would seem that the client does not read this one.
      else if (response.socket === null) response.once("socket", () => connection.take(request, response));
      else connection.take(request, response);
    });
    this.#server.on("clientError", (error: Error & { readonly code?: string }, socket: Socket) => {
      const connection = this.#connections.get(socket);
      if (connection === undefined) socket.destroy();
      else connection.refuse(error);
    });
  }

  /** Starts HTTP/1.1 on a socket; closes it if a connection limit is exceeded. */
  accept(socket: Socket, peer: Peer, { hub, listener }: Http1Ports): void {
    const id = hub.openConnection(peer, "rest", listener);
    if (id === undefined) {
      socket.destroy();
      return;
    }
    const connection = new Http1Connection(socket, { id, peer, hub, ...this.#options });
    this.#connections.set(socket, connection);
    socket.once("close", () => {
      this.#connections.delete(socket);
      connection.closed();
      if (this.#connections.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    });
    if (this.#isDraining) connection.leave();
    this.#server.emit("connection", socket);
  }

  /** Closes idle connections at once, others with their next response. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of [...this.#connections.values()]) connection.leave();
  }

  /** As `drain`, for one connection. */
  leave(socket: Socket): void {
    this.#connections.get(socket)?.leave();
  }

  async whenIdle(): Promise<void> {
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}

interface Http1ConnectionOptions extends Http1Options {
  readonly id: number;
  readonly peer: Peer;
  readonly hub: HubPort;
}

/** One connection; pipelined requests are taken one after another. */
class Http1Connection {
  readonly #socket: Socket;
  readonly #options: Http1ConnectionOptions;
  readonly #exchanges = new Set<Http1Exchange>();
  readonly #leaveAt: number;
  readonly #times: ClientTimes;
  #isLeaving = false;
  #timeout: NodeJS.Timeout | undefined;

  constructor(socket: Socket, options: Http1ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#times = options.times ?? CLIENT_TIMES;
    const ageMs = options.limits.maxConnectionAgeMs * (1 + AGE_JITTER * (2 * Math.random() - 1));
    this.#leaveAt = ageMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + ageMs;
    this.#expect(this.#times.headMs);
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    clearTimeout(this.#timeout);
    const { rest, hub, id, peer } = this.#options;
    const exchange = new Http1Exchange(request, response, {
      connection: id,
      peer,
      mustClose: () => this.#isLeaving || performance.now() >= this.#leaveAt,
      onResponding: () => this.#expectReading(),
      onOver: () => this.#forget(exchange),
    });
    this.#exchanges.add(exchange);
    rest.serve(exchange, hub);
  }

  /** Rejects input that is not valid HTTP. */
  refuse({ code, message }: Error & { readonly code?: string }): void {
    const socket = this.#socket;
    if (!socket.writable || this.#exchanges.size > 0) {
      socket.destroy();
      return;
    }
    const isTooLong = code === "HPE_HEADER_OVERFLOW";
    const status: Status = {
      code: statusCode.INVALID_ARGUMENT,
      message: isTooLong ? "the headers of the request are too long" : `not a request of HTTP/1.1: ${message}`,
    };
    const body = errorBody(status);
    const head = `HTTP/1.1 ${isTooLong ? "431 Request Header Fields Too Large" : "400 Bad Request"}`;
    socket.end(
      Buffer.concat([
        Buffer.from(
          `${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
        ),
        body,
      ]),
    );
    this.#expect(1_000);
  }

  leave(): void {
    this.#isLeaving = true;
    if (this.#exchanges.size === 0) this.#socket.destroy();
  }

  closed(): void {
    clearTimeout(this.#timeout);
    this.#options.hub.closeConnection(this.#options.id, "closed by the client");
    for (const exchange of [...this.#exchanges]) exchange.closed();
  }

  #forget(exchange: Http1Exchange): void {
    this.#exchanges.delete(exchange);
    if (this.#exchanges.size > 0 || this.#socket.destroyed) return;
    this.#expect(this.#times.headMs);
  }

  /** Starts the timer of the last write. */
  #expectReading(): void {
    const { hub, peer, limits } = this.#options;
    const { maxBlockedMs } = limits;
    const late = (): void => hub.reportLimit("maxBlockedMs", peer.address, blockedMessage(maxBlockedMs));
    this.#expect(maxBlockedMs, late);
  }

  /** Starts a timer; `late` runs if it expires. */
  #expect(ms: number, late?: () => void): void {
    clearTimeout(this.#timeout);
    this.#timeout = setTimeout(() => {
      late?.();
      this.#socket.destroy();
    }, ms);
    this.#timeout.unref();
  }
}

interface Http1ExchangeOptions {
  readonly connection: number;
  readonly peer: Peer;
  readonly mustClose: () => boolean;
  readonly onResponding: () => void;
  readonly onOver: () => void;
}

/** One request over HTTP/1.1. */
class Http1Exchange implements RestExchange {
  readonly method: string;
  readonly target: string;
  readonly authority: string | undefined;
  readonly #options: Http1ExchangeOptions;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #isAnswered = false;
  #isOver = false;
  #abort: (() => void) | undefined;
  #giveUpBody: (() => void) | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, options: Http1ExchangeOptions) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    this.method = request.method ?? "";
    this.target = request.url ?? "";
    this.authority = request.headers.host;
    request.on("error", () => undefined); // "close" of the socket follows
    response.on("error", () => undefined);
    response.once("finish", () => this.#end());
  }

  get connection(): number {
    return this.#options.connection;
  }

  get peer(): Peer {
    return this.#options.peer;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === "object" ? value[0] : value;
  }

  readBody({ withinMs, ...options }: BodyOptions): Promise<BodyResult> {
    const request = this.#request;
    const body = new BodyReader(options);
    return new Promise((resolve) => {
      const end = (result: BodyResult): void => {
        this.#giveUpBody?.();
        resolve(result);
      };
      const timeout = setTimeout(() => end("too-slow"), withinMs);
      const onData = (chunk: Uint8Array): void => {
        const passed = body.push(chunk);
        if (passed !== undefined) end(passed);
      };
      const onEnd = (): void => end(body.take());
      this.#giveUpBody = () => {
        clearTimeout(timeout);
        request.off("data", onData).off("end", onEnd).resume();
        body.clear();
        this.#giveUpBody = undefined;
      };
      request.on("data", onData).on("end", onEnd);
    });
  }

  respond(status: number, headers: ResponseHeaders, body?: Uint8Array): void {
    if (this.#isAnswered || this.#isOver) return;
    this.#isAnswered = true;
    const response = this.#response;
    const mustClose = this.#options.mustClose();
    this.#options.onResponding();
    response.writeHead(status, {
      ...headers,
      ...(body !== undefined && { "content-length": body.length }),
      ...(mustClose && { connection: "close" }),
    });
    if (body === undefined || this.method === "HEAD") response.end();
    else writeBody(sinkOf(response), body, () => this.#options.onResponding());
  }

  onAbort(listener: () => void): void {
    if (this.#isOver && !this.#isAnswered) listener();
    else this.#abort = listener;
  }

  /** Nothing to do: HTTP/1.1 connections close only between exchanges. */
  onDismiss(): void {}

  /** The socket is gone. */
  closed(): void {
    this.#giveUpBody?.();
    const abort = this.#isAnswered ? undefined : this.#abort;
    this.#end();
    abort?.();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort = undefined;
    this.#options.onOver();
  }
}
