import {
  type ClientDuplexStream,
  InterceptingCall,
  type Interceptor,
  ListenerBuilder,
  RequesterBuilder,
  type StatusObject,
} from "@grpc/grpc-js";
import { startTimer, type Timer } from "@xdskit/disk";
import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { ServerConfig } from "../../config/client-config.ts";
import { type Connection, type Connections, whenConnected } from "./connection.ts";
import { endIfStatusIsMissing } from "./missing-status.ts";

type BytesCall = ClientDuplexStream<Uint8Array, Uint8Array>;

/** Receives the events of a call; none after `ended`. */
export interface CallListener {
  /** The connection is up, and messages leave from now on. */
  opened(): void;
  /**
   * The next message is read when the promise resolves (C-CLI-07). A rejection is a bug of this library and ends the
   * call.
   */
  message(bytes: Uint8Array): Promise<void>;
  ended(status: Status): void;
}

/** What a call needs. */
export interface GrpcCallOptions {
  /** The path of the method, such as `/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats`. */
  readonly path: string;
  readonly server: ServerConfig;
  readonly connections: Connections;
  readonly listener: CallListener;
}

/** A bidirectional call with messages as bytes. The next message is read when the last one is processed (C-CLI-07). */
export class GrpcCall {
  readonly #options: GrpcCallOptions;
  #connection: Connection | undefined;
  #call: BytesCall | undefined;
  #connectTimer: Timer | undefined;
  #wasOpened = false;
  #isOver = false;

  constructor(options: GrpcCallOptions) {
    this.#options = options;
    const { server, connections } = options;
    this.#connectTimer = startTimer(server.connectTimeoutMs, () => this.#connectTimedOut());
    connections.acquire(server).then(
      (connection) => this.#start(connection),
      (cause: unknown) => this.#end(unavailable(server, cause instanceof Error ? cause.message : String(cause))),
    );
  }

  /** Calls back when the message has left for the server, if it does. */
  send(message: Uint8Array, left?: () => void): void {
    if (this.#isOver) return;
    this.#call?.write(message, (error?: Error | null) => {
      if (error === undefined || error === null) left?.();
    });
  }

  /** Ends the call; the listener receives nothing more. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#letGo();
  }

  #start(connection: Connection): void {
    if (this.#isOver) {
      this.#options.connections.release(connection);
      return;
    }
    this.#connection = connection;
    const { path } = this.#options;
    const call: BytesCall = connection.client.makeBidiStreamRequest(
      path,
      asBuffer,
      (bytes) => bytes,
      connection.metadata.clone(),
      { interceptors: [this.#interceptor()] },
    );
    this.#call = call;
    call.resume();
    // The status is reported anyway; an error without a listener would end the process.
    call.on("error", () => {});
    call.on("metadata", () => endIfStatusIsMissing(call));
    call.on("status", (status: StatusObject) => this.#end(statusOf(status, this.#options.server)));
    whenConnected(connection, () => this.#opened(connection));
  }

  #opened(connection: Connection): void {
    if (this.#isOver) return;
    this.#connectTimer?.cancel();
    this.#wasOpened = true;
    connection.isProven = true;
    this.#options.listener.opened();
  }

  /** Delivers a message and asks for the next one only after it is processed. */
  #interceptor(): Interceptor {
    const { listener } = this.#options;
    const received = new ListenerBuilder()
      .withOnReceiveMessage((message: Uint8Array, next) => {
        if (this.#isOver) return;
        listener.message(message).then(
          () => this.#whenThereIsRoom(() => next(noBytes)),
          (cause: unknown) => this.#end({ code: statusCode.INTERNAL, message: String(cause) }),
        );
      })
      .build();
    return (options, nextCall) =>
      new InterceptingCall(
        nextCall(options),
        new RequesterBuilder().withStart((metadata, _listener, next) => next(metadata, received)).build(),
      );
  }

  /** Stops reading from a server that does not read, so that requests in response do not pile up here. */
  #whenThereIsRoom(then: () => void): void {
    if (this.#call?.writableNeedDrain === true) this.#call.once("drain", then);
    else then();
  }

  #connectTimedOut(): void {
    const { server } = this.#options;
    this.#end(unavailable(server, `not connected within ${server.connectTimeoutMs} ms`));
  }

  #end(status: Status): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#connection !== undefined && !this.#wasOpened) this.#connection.isProven = false;
    this.#letGo();
    this.#options.listener.ended(status);
  }

  #letGo(): void {
    this.#connectTimer?.cancel();
    this.#call?.cancel();
    if (this.#connection !== undefined) this.#options.connections.release(this.#connection);
  }
}

const noBytes: Uint8Array = new Uint8Array();

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** grpc-js gives neither a code nor details for a message that it cannot decompress. */
function statusOf({ code, details }: Partial<StatusObject>, server: ServerConfig): Status {
  if (code === undefined)
    return { code: statusCode.INTERNAL, message: `${server.name}: a message that cannot be read` };
  if (code === statusCode.UNAVAILABLE) return unavailable(server, systemWords(details ?? ""));
  if (code === statusCode.OK && !details) return { code, message: `${server.name}: the server ended the stream` };
  return { code, message: details ?? "" };
}

/** The system's error text of a connection, without the times and addresses that grpc-js adds. */
export function systemWords(details: string): string {
  return details
    .replace(/^No connection established\. Last error: (?:null|(?:Error(?: \[\w+\])?: )?)/, "no connection: ")
    .replace(/\.? ?Resolution note: .*$/s, "")
    .replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/, "")
    .replace(/[0-9A-F]+:error:[0-9A-F]+:SSL routines:\w*:([^:]+):.*$/s, "$1")
    .replace(/^no connection: $/, "no connection")
    .replace(/^(no connection: Protocol error)$/, "$1: something answers, but no xDS server: is that its admin port?")
    .trim();
}

function unavailable({ name }: ServerConfig, why: string): Status {
  return { code: statusCode.UNAVAILABLE, message: `${name}: ${why}` };
}
