import type { ClientDialect } from "../dialect/client-dialect.ts";
import type { Variant } from "../message/variant.ts";

/** Identifies a source for the life of a client; equal sources have equal ids. The shell assigns it. */
export type SourceId = string;

/** Where resources come from: a resolved `ConfigSource`. */
export interface SourceSpec {
  readonly id: SourceId;
  /**
   * `stream`: gRPC; requests are sent when due. `poll`: REST; each request is a poll, and the shell asks for the next
   * one. `file`: no requests. All three use the same events.
   */
  readonly access: "stream" | "poll" | "file";
  /** Always `sotw` for polls and files (B-DLT-01). */
  readonly variant: Variant;
  /**
   * Whether one stream carries all types, instead of one stream per type (C-GRP-09, C-ADS-02). Polls and files have one
   * per type.
   */
  readonly isAggregated: boolean;
  /** The number of servers, best first; at least 1. They are identified by index. */
  readonly servers: number;
  /**
   * Which server is used next. `cycle`: the next one after every failure (C-CFG-08, C-RST-17). `fallback`: a worse one,
   * only while all better ones cannot be reached (C-FBK-03). `fallback-when-missing`: the same, and only if a watched
   * resource is unknown (C-FBK-02).
   */
  readonly failover: "cycle" | "fallback" | "fallback-when-missing";
  /** Which requests carry the node. Envoy's default is `every-request` (C-NOD-02). */
  readonly nodeIn: "first-request" | "every-request";
  /**
   * How long after the request a name without an answer counts as not existing, in milliseconds; 0: never (C-NEX-02).
   */
  readonly absenceMs: number;
  readonly backOff: BackOff;
  /** The request rate limit (C-CFG-07); undefined: no limit. */
  readonly rateLimit: RateLimit | undefined;
  readonly dialect: ClientDialect;
}

/**
 * The pause before a stream is opened again: random, from 0 to `baseMs` doubled with each failure in a row, at most
 * `maxMs` (C-REC-02).
 */
export interface BackOff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** A token bucket; each request takes one token. */
export interface RateLimit {
  readonly maxTokens: number;
  readonly tokensPerSecond: number;
}
