import type { Status, TypeUrl } from "@xdskit/protocol";
import type { DiscoveryRequest } from "@xdskit/protocol/internal";
import type { ServerConfig, SourceConfig } from "../config/client-config.ts";

/** A kind of transport: gRPC, REST or files. One serves all sources of its kind. */
export interface Transport<S extends SourceConfig = SourceConfig> {
  /** Starts at once and never throws; errors end the stream. */
  open(stream: NewStream<S>, listener: StreamListener): ClientStream;
  /** Closes all connections. Resolves when nothing keeps the process alive. */
  close(): Promise<void>;
}

export interface NewStream<S extends SourceConfig = SourceConfig> {
  readonly source: S;
  /** Undefined for a file. */
  readonly server: ServerConfig | undefined;
  /** Undefined on an aggregated stream. */
  readonly onlyType: TypeUrl | undefined;
}

/** One stream to a server, or one file. */
export interface ClientStream {
  /**
   * gRPC: sends the request. REST: makes it the next poll, after the delay or, if urgent, at once in place of one in
   * progress (C-RST-20). File: sets the wanted names; the first call reads the file.
   */
  send(request: DiscoveryRequest, isUrgent: boolean): void;
  /** Ends the stream; the listener receives nothing more. */
  close(): void;
}

/** Receives the events of a stream; none after `ended`. */
export interface StreamListener {
  /** The stream is open, and requests leave from now on. */
  opened(): void;
  /**
   * An encoded `DiscoveryResponse` or `DeltaDiscoveryResponse`, whatever its format on the wire. The next one is read
   * when the promise resolves (C-CLI-07).
   */
  response(bytes: Uint8Array): Promise<void>;
  /** REST: nothing changed (C-RST-04). */
  unchanged(): void;
  /** Files and REST: the response cannot be read (C-RST-18, C-FS-06); the stream continues. */
  unreadable(problem: string): void;
  /** REST: the delay after the last response is over; `send` follows. */
  due(): void;
  ended(status: Status): void;
}
