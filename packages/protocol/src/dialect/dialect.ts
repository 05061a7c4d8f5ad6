import type { TypeKind } from "../resource/type-traits.ts";

/** A value that may differ from one kind of resource to another. */
export type PerKind<T> = { readonly otherwise: T } & { readonly [K in TypeKind]?: T };

/** What a value is for one kind. */
export function forKind<T>(values: PerKind<T>, kind: TypeKind): T {
  return values[kind] ?? values.otherwise;
}

/** Streams on which clients differ in what an expired resource does to them. */
export type TtlStream = "delta" | "sotw" | "aggregated-sotw";

/** Who is told of a ttl: whoever announces that it knows ttls, everybody, nobody. */
export type TtlRule = "if-announced" | "always" | "never";

/**
 * Every point where editions of the protocol or real clients differ (requirements 4). A machine reads a field at the one
 * branch concerned; nothing else in this package knows a client's name or an edition's year.
 */
export interface Dialect {
  /** An empty first request means everything (S-SUB-08, S-SUB-09, S-MSC-08). */
  readonly legacyWildcard: PerKind<boolean>;
  /** A type whose first request was empty stays a wildcard for the stream's life (S-SUB-14). */
  readonly wildcardSticky: boolean;
  /** State of the World: names only hint at what is wanted; the node's whole view is sent (S-SUB-03). */
  readonly ignoreHints: boolean;
  /** How delta says that a name does not exist (S-NEX-06, S-NEX-07). */
  readonly deltaMissing: PerKind<"removed" | "empty-resource" | "none">;
  /**
   * What is told in `resource_errors`: what was refused or failed, that and what State of the World is asked for and does not
   * exist, or nothing (S-ERR-01, S-ERR-05, S-RES-15). Types of v2 never have the field.
   */
  readonly resourceErrors: "failed" | "failed-and-missing" | "off";
  /** Delta: an error ends a client's wait; where not, what it waits for is said to be missing as well (S-ERR-05). */
  readonly errorsEndWaiting: boolean;
  /** When delta says that a resource which the client was told of is gone (S-DEL-04 as amended). */
  readonly deltaRemovals: PerKind<"at-once" | "when-unreferenced">;
  /** Delta: each resource in a response of its own (S-RES-07). */
  readonly deltaOnePerResponse: boolean;
  /** How many bytes of resources and names one response holds at most, where an answer may be split (S-RES-08). */
  readonly maxResponseBytes: number;
  /** A client of this kind of resource can do with an answer that comes in several responses (client-behaviours D9). */
  readonly maySplit: PerKind<boolean>;
  /** State of the World: a request with another version than the answered one is a NACK too (S-ACK-06). */
  readonly nackByVersion: boolean;
  /** What becomes of names in a request with a stale nonce (S-NON-07). */
  readonly staleNonce: "ignore" | "honour-names";
  /** State of the World: a new stream that brings the current version is not sent a sole wildcard again (S-REC-05). */
  readonly resumeSkip: PerKind<boolean>;
  /** After an added or changed Cluster its ClusterLoadAssignment is sent again (S-WRM-08). */
  readonly resendEdsOnClusterChange: boolean;
  /** What a request for a type that the server has no description of does to an aggregated stream (S-TYP-07). */
  readonly unknownType: "ignore" | "reject";
  /** A node in a later request that differs from the first (S-NOD-04). */
  readonly nodeChange: "ignore" | "reject";
  /** Clusters that are gone are removed last, and what uses new ones is sent after them (S-ORD-05, S-ORD-06). */
  readonly makeBeforeBreak: boolean;
  /** How long a step of that order waits for a client that says nothing, in milliseconds. */
  readonly orderLimitMs: number;
  /** How long a client that came back is given to ask for what it uses, before Clusters that are gone are removed, in milliseconds. */
  readonly resumeGraceMs: number;
  /** The same for a client with a stream for each type: each comes back after a pause of its own (client-behaviours 0.1). */
  readonly separateResumeGraceMs: number;
  /** How long newer content waits for the ACK of what was sent, in milliseconds. */
  readonly ackLimitMs: number;
  /** The same, for clients that withhold the ACK of Clusters on an aggregated stream until nothing warms (client-behaviours A16). */
  readonly withheldAckLimitMs: PerKind<number | undefined>;
  /** Who is told of ttls, by the kind of stream (S-TTL-01, S-TTL-02, B-TTL-17, client-behaviours E1, E6). */
  readonly ttl: Readonly<Record<TtlStream, PerKind<TtlRule>>>;
  /** Polls are held until something changes or their time is over; else each is answered at once (S-RST-10). */
  readonly restLongPoll: boolean;
  /** `if-announced` is taken for `always` (S-TTL-01). */
  readonly ttlWithoutFeature: boolean;
  /** A NACK of a newer answer on an aggregated stream may be that of an older, unsettled one (client-behaviours A16). */
  readonly nackMayBeOfOlder: PerKind<boolean>;
}

/** What an operator switched; everything else is as the client's row or the edition has it. */
export type DialectOverrides = Partial<Dialect>;
