import type { Socket } from "node:net";
import { startTimer, type Timer } from "@xdskit/disk";
import type { Peer, Status } from "@xdskit/protocol";
import type { Account } from "@xdskit/protocol/internal";
import { type NamedChoice, statusCode } from "@xdskit/protocol/internal";
import { accountOf } from "../../hub/account.ts";
import type { HubPort, StreamEnd } from "../../hub/port.ts";
import type { Limits } from "../../limits.ts";
import type { OpenHttp2 } from "../http2/engines.ts";
import { errorCode } from "../http2/frame.ts";
import type { Http2Connection, Http2Failure, Http2Listener, Http2Stream, RequestHeaders } from "../http2/http2.ts";
import type { ReadPacer } from "../http2/read-pacer.ts";
import { Http2Exchange } from "../rest/http2-exchange.ts";
import type { RestServer } from "../rest/rest-server.ts";
import { blockedMessage } from "../stream-state.ts";
import { openCall } from "./call.ts";
import type { CertificateNotice } from "./certificate-watch.ts";
import type { Decompression } from "./decompression.ts";
import type { Intake } from "./intake.ts";
import { isGrpc } from "./metadata.ts";
import type { Dismiss, GrpcMethod } from "./method.ts";

/** Streams allowed beyond the limit, so that an excess stream gets a status instead of waiting silently. */
const SPARE_STREAMS = 100;
const MAX_STREAMS = 2 ** 31 - 1;
/** Jitter of the connection age, as a share of it, so that connections opened together do not close together. */
const AGE_JITTER = 0.1;
/** Jitter of the PING interval, as a share of it, in this many steps. */
const PING_SPREAD = 0.1;
const PING_STEPS = 32;
/** Milliseconds that an aged connection has to close after its streams ended. */
const LEAVE_WITHIN_MS = 1_000;
/** Milliseconds that a connection has to close after its client's certificate became invalid. */
const LAPSE_WITHIN_MS = 500;

const reasons: Readonly<Record<CertificateNotice, string>> = {
  expiring: "the client certificate expires soon",
  expired: "the client certificate has expired",
  untrusted: "no CA of this server vouches for the client certificate any more",
  revoked: "the client certificate is revoked",
};

const tooOld: Status = {
  code: statusCode.UNAVAILABLE,
  message: "the connection is old enough; connect anew (maxConnectionAgeMs)",
};

const hasMore: Status = {
  code: statusCode.UNAVAILABLE,
  message: "another server has fewer connections; connect anew",
};

export interface ConnectionOptions {
  readonly hub: HubPort;
  readonly limits: Limits;
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  /** The protocol overrides of the port. */
  readonly listener: NamedChoice | undefined;
  readonly rest: RestServer;
  readonly decompression: Decompression;
  readonly intake: Intake;
  readonly readPacer?: ReadPacer | undefined;
  readonly openHttp2: OpenHttp2;
}

/** One HTTP/2 connection: its calls, its PINGs, its age. */
export class GrpcConnection implements Http2Listener {
  readonly #http2: Http2Connection;
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #peer: Peer;
  readonly #account: Account;
  readonly #id: number;
  readonly #calls = new Set<Dismiss>();
  readonly #streams = new Set<Http2Stream>();
  #keepalive: NodeJS.Timeout | undefined;
  #pingTimeout: NodeJS.Timeout | undefined;
  #age: Timer | undefined;
  readonly #openedAt = performance.now();
  #closeReason = "closed by the client";

  /** Starts HTTP/2 on a socket. Returns undefined and closes the socket if a connection limit is exceeded. */
  static open(socket: Socket, peer: Peer, options: ConnectionOptions): GrpcConnection | undefined {
    const id = options.hub.openConnection(peer, "grpc", options.listener);
    if (id !== undefined) return new GrpcConnection(socket, peer, id, options);
    socket.destroy();
    return undefined;
  }

  private constructor(socket: Socket, peer: Peer, id: number, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#peer = peer;
    this.#account = accountOf(peer);
    this.#id = id;
    const { maxStreamsPerIdentity, maxStreamsPerPeer } = options.limits;
    const ofAccount = this.#account.by === "identity" ? maxStreamsPerIdentity : maxStreamsPerPeer;
    const maxStreams = Math.min(MAX_STREAMS, ofAccount + SPARE_STREAMS);
    const { readPacer, limits } = options;
    this.#http2 = options.openHttp2(socket, { maxStreams, maxBlockedMs: limits.maxBlockedMs, readPacer }, this);
    this.onClose(() => {
      this.#stopTimers();
      options.hub.closeConnection(id, this.#closeReason);
    });
    this.#startTimers();
  }

  /**
   * Adds a callback for the close of the connection: that of its socket, as a session does not emit "close" after a write
   * that never ended. A turn later, so that the session has told its error.
   */
  onClose(listener: () => void): void {
    this.#socket.once("close", () => setImmediate(listener));
  }

  /** Sends GOAWAY: existing calls continue, new ones go elsewhere. */
  leave(reason: string): void {
    if (this.#http2.isLeaving) return;
    this.#closeReason = reason;
    this.#http2.leave();
  }

  get isLeaving(): boolean {
    return this.#http2.isLeaving;
  }

  get ageMs(): number {
    return performance.now() - this.#openedAt;
  }

  /** Asks the client to go to another server; its calls get a while to end. */
  move(): void {
    this.#age?.cancel();
    this.#retire(hasMore, "balance");
  }

  /** Ends all calls with a status. */
  dismissCalls(status: Status, reason: StreamEnd): void {
    for (const dismiss of [...this.#calls]) dismiss(status, reason);
  }

  /**
   * The client's certificate expires soon: calls get a while to end. Or it is not valid any more: calls end at once, and
   * the connection after them, since clients reopen streams on a connection that stays.
   */
  lapse(notice: CertificateNotice): void {
    if (this.#http2.isDestroyed) return;
    const status = certificateStatus(notice);
    this.#age?.cancel();
    if (notice === "expiring") {
      this.#retire(status, "certificate");
      return;
    }
    this.leave(status.message);
    this.dismissCalls(status, "certificate");
    this.#age = startTimer(LAPSE_WITHIN_MS, () => this.destroy(status.message));
  }

  onFailure({ kind, reason }: Http2Failure): void {
    const { hub } = this.#options;
    const { address } = this.#peer;
    this.#closeReason = reason;
    if (kind === "broken") hub.report({ kind: "connection-broken", address, reason });
    if (kind === "blocked") hub.reportLimit("maxBlockedMs", address, reason);
  }

  /** Closes the connection at once. */
  destroy(reason: string): void {
    this.#closeReason = reason;
    this.#http2.destroy();
  }

  /** Handles a new stream; an exception ends only that stream. */
  onStream(stream: Http2Stream, headers: RequestHeaders): void {
    this.#keep(stream);
    this.#options.intake.take(this.#account.key, () => this.#start(stream, headers));
  }

  /** On its own: what is called in the end would hold the headers until then. */
  #keep(stream: Http2Stream): void {
    this.#streams.add(stream);
    stream.onClose(() => this.#streams.delete(stream));
  }

  #start(stream: Http2Stream, headers: RequestHeaders): void {
    if (stream.isClosed) return;
    try {
      const { rest } = this.#options;
      if (!isGrpc(headers["content-type"]) && rest.owns(headers[":path"] ?? "")) this.#serveRest(stream, headers);
      else this.#serve(stream, headers, headers[":path"]);
    } catch (error) {
      this.#reportMistake(headers[":path"], error);
      stream.reset(errorCode.internalError);
    }
  }

  #reportMistake(path: string | undefined, error: unknown): void {
    this.#options.hub.report({ kind: "invariant-broken", stream: undefined, during: `call ${path}`, error });
  }

  /** Nothing that is called later refers to the headers, so a call does not hold them. */
  #serve(stream: Http2Stream, headers: RequestHeaders, path: string | undefined): void {
    const { hub, limits, methods } = this.#options;
    const { address } = this.#peer;
    const account = this.#account;
    const call = openCall(stream, headers, {
      maxBytes: limits.maxRequestBytes,
      maxSmallFragments: limits.maxSmallFragments,
      maxMessageMs: limits.maxMessageMs,
      pausedMs: () => this.#http2.pausedMs,
      maxBlockedMs: limits.maxBlockedMs,
      decompression: this.#options.decompression,
      account,
      held: hub.budget.open(account),
      intake: this.#options.intake,
      delayRequest: () => hub.delayRequest(account, address),
      onLimit: (limit, message) => hub.reportLimit(limit, address, message),
      onMistake: (error) => this.#reportMistake(path, error),
    });
    if (call === undefined) return;
    let dismiss: Dismiss | undefined;
    stream.onClose(() => {
      if (dismiss !== undefined) this.#calls.delete(dismiss);
      try {
        call.closed(this.#http2.isDestroyed ? "connection-lost" : "cancelled");
      } catch (error) {
        this.#reportMistake(path, error);
      }
    });
    const method = methods.get(call.headers.path);
    if (method === undefined) {
      call.end({ code: statusCode.UNIMPLEMENTED, message: `method ${call.headers.path} is not served here` });
      return;
    }
    dismiss = method(call, { hub, connection: this.#id, address, peer: this.#peer });
    this.#calls.add(dismiss);
  }

  #serveRest(stream: Http2Stream, headers: RequestHeaders): void {
    const { hub, limits, rest } = this.#options;
    const { maxBlockedMs: blockedMs } = limits;
    const exchange = new Http2Exchange(stream, headers, {
      connection: this.#id,
      peer: this.#peer,
      blockedMs,
      pausedMs: () => this.#http2.pausedMs,
      onBlocked: () => hub.reportLimit("maxBlockedMs", this.#peer.address, blockedMessage(blockedMs)),
    });
    const dismiss = (): void => exchange.dismiss();
    this.#calls.add(dismiss);
    stream.onClose(() => this.#calls.delete(dismiss));
    rest.serve(exchange, hub);
  }

  #startTimers(): void {
    const { keepaliveMs, maxConnectionAgeMs } = this.#options.limits;
    if (keepaliveMs > 0) {
      const step = Math.floor(Math.random() * PING_STEPS) / PING_STEPS;
      this.#keepalive = setInterval(() => this.#ping(), keepaliveMs * (1 - PING_SPREAD * step));
      this.#keepalive.unref();
    }
    if (maxConnectionAgeMs > 0) {
      const ageMs = maxConnectionAgeMs * (1 + AGE_JITTER * (2 * Math.random() - 1));
      this.#age = startTimer(ageMs, () => this.#retire(tooOld, "connection-age"));
    }
  }

  #stopTimers(): void {
    clearInterval(this.#keepalive);
    clearTimeout(this.#pingTimeout);
    this.#age?.cancel();
  }

  /** Sends a PING: only this detects a half-open connection or a client that does not read. */
  #ping(): void {
    if (this.#http2.isDestroyed || this.#pingTimeout !== undefined) return;
    this.#awaitPong();
    this.#http2.ping(() => {
      clearTimeout(this.#pingTimeout);
      this.#pingTimeout = undefined;
    });
  }

  /**
   * A PING is answered after what was written before it, and Node neither sends it nor reads anything while a write is in
   * progress. So a client that reads a large response slowly has the time of a message, and more as long as something
   * comes from it.
   */
  #awaitPong(waitedMs = 0): void {
    const { keepaliveTimeoutMs, maxBlockedMs } = this.#options.limits;
    const { bytesRead } = this.#socket;
    this.#pingTimeout = setTimeout(() => {
      const isWriting = waitedMs < maxBlockedMs && [...this.#streams].some(({ unsentBytes }) => unsentBytes > 0);
      if (this.#socket.bytesRead > bytesRead || this.#http2.isPaused) this.#awaitPong();
      else if (isWriting) this.#awaitPong(waitedMs + keepaliveTimeoutMs);
      else this.destroy(`no answer to a PING for ${waitedMs + keepaliveTimeoutMs} ms`);
    }, keepaliveTimeoutMs);
    this.#pingTimeout.unref();
  }

  #retire(status: Status, reason: StreamEnd): void {
    this.leave(status.message);
    this.#age = startTimer(this.#options.limits.maxConnectionAgeGraceMs, () => {
      this.dismissCalls(status, reason);
      this.#age = startTimer(LEAVE_WITHIN_MS, () => this.destroy(status.message));
    });
  }
}

/** The status of calls over a connection with such a certificate: clients that have another one are served with it. */
function certificateStatus(notice: CertificateNotice): Status {
  return { code: statusCode.UNAVAILABLE, message: `${reasons[notice]}; connect anew with a valid one` };
}
