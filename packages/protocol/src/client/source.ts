import type { ClientDialect } from "../dialect/client-dialect.ts";
import type { Variant } from "../message/variant.ts";

/** Names a source for the life of a client: equal sources have equal ids. Given by the shell. */
export type SourceId = string;

/** Where resources come from: what one `ConfigSource` comes to. */
export interface SourceSpec {
  readonly id: SourceId;
  /**
   * `stream`: gRPC, requests go out when they are due. `poll`: REST, each request is a poll and the shell asks for the next one. `file`: nothing is
   * ever asked. All three are spoken to in the same events.
   */
  readonly access: "stream" | "poll" | "file";
  /** `sotw` for polls and files (B-DLT-01). */
  readonly variant: Variant;
  /** One stream for all types, or one for each (C-GRP-09, C-ADS-02). Polls and files have one for each. */
  readonly isAggregated: boolean;
  /** How many servers there are, the best first; at least 1. They are known by their place. */
  readonly servers: number;
  /**
   * Which server is used next. `cycle`: the next one after every failure (C-CFG-08, C-RST-17). `fallback`: one that is less
   * good only while all better ones cannot be reached, until they can (C-FBK-03); `fallback-when-missing`: and only if nothing is known of
   * something that is wanted (C-FBK-02).
   */
  readonly failover: "cycle" | "fallback" | "fallback-when-missing";
  /** `every-request` is what Envoy does unless told otherwise (C-NOD-02). */
  readonly nodeIn: "first-request" | "every-request";
  /** After how long without an answer a name that was asked for does not exist, in milliseconds; 0: never (C-NEX-02). */
  readonly absenceMs: number;
  readonly backOff: BackOff;
  /** At most so many requests at once and so many a second (C-CFG-07); undefined: no limit. */
  readonly rateLimit: RateLimit | undefined;
  readonly dialect: ClientDialect;
}

/** The pause before a stream is opened again: between nothing and `baseMs` doubled with each failure in a row, `maxMs` at most (C-REC-02). */
export interface BackOff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** A bucket of tokens, one for each request. */
export interface RateLimit {
  readonly maxTokens: number;
  readonly tokensPerSecond: number;
}
