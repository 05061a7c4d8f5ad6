import type { DiscoveryRequest, Status, TypeUrl } from "@xdskit/protocol";
import type { ServerConfig, SourceConfig } from "../config/client-config.ts";

/** A way to talk to servers: gRPC, REST, files. One for all sources of its kind. */
export interface Transport<S extends SourceConfig = SourceConfig> {
  /** Starts at once and does not throw: what goes wrong is told as the end of the stream. */
  open(stream: NewStream<S>, listener: StreamListener): ClientStream;
  /** Gives up all connections. Resolves when nothing is left that would keep a process alive. */
  close(): Promise<void>;
}

export interface NewStream<S extends SourceConfig = SourceConfig> {
  readonly source: S;
  /** Undefined for a file. */
  readonly server: ServerConfig | undefined;
  /** Undefined on an aggregated stream. */
  readonly onlyType: TypeUrl | undefined;
}

/** One attempt to talk to a server, or one file. */
export interface ClientStream {
  /**
   * gRPC: sends it. REST: makes it the next poll, at its time or, if urgent, at once in place of one that is under way (C-RST-20). File: what is wanted of
   * it; the first call reads the file.
   */
  send(request: DiscoveryRequest, isUrgent: boolean): void;
  /** Ends it. The listener hears nothing any more. */
  close(): void;
}

/** What a stream tells. Nothing after `ended`. */
export interface StreamListener {
  /** What is sent from now on goes out. */
  opened(): void;
  /**
   * The encoded `DiscoveryResponse` or `DeltaDiscoveryResponse`, whatever it was on the way: JSON, YAML, text. The next one is not read before the
   * promise resolves (C-CLI-07).
   */
  response(bytes: Uint8Array): Promise<void>;
  /** REST: nothing changed (C-RST-04). */
  unchanged(): void;
  /** Files and REST: what came cannot be read (C-RST-18, C-FS-06); the stream goes on. */
  unreadable(problem: string): void;
  /** REST: the delay after the last answer is over; `send` follows. */
  due(): void;
  ended(status: Status): void;
}
