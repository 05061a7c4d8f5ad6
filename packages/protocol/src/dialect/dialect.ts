import type { TypeKind } from "../resource/type-kinds.ts";

/** A value that may differ from one kind of resource to another. */
export type PerKind<T> = { readonly otherwise: T } & { readonly [K in TypeKind]?: T };

/** What a value is for one kind. */
export function forKind<T>(values: PerKind<T>, kind: TypeKind): T {
  return values[kind] ?? values.otherwise;
}

/** Whether naming nothing at first means everything of a kind. */
export function isWildcardType({ wildcardTypes }: Dialect, kind: TypeKind, variant: "sotw" | "delta"): boolean {
  const is = forKind(wildcardTypes, kind);
  return is === "delta" ? variant === "delta" : is;
}

/** Streams on which clients differ in what an expired resource does to them. */
export type TtlStream = "delta" | "sotw" | "aggregated-sotw";

/** Who is told of a ttl: whoever announces that it knows ttls, everybody, nobody. */
export type TtlRule = "if-announced" | "always" | "never";

/**
 * Every point where editions of the protocol or real clients differ (requirements 4). A machine reads a field at the one
 * branch concerned; nothing else in this package knows a client's name or an edition's year. What each edition wants is in
 * the table of switches.
 */
export interface Dialect {
  /** An empty first request means everything; `delta`: only in delta (S-SUB-08, S-SUB-09, S-MSC-08). */
  readonly wildcardTypes: PerKind<boolean | "delta">;
  /** A type whose first request was empty stays a wildcard for the stream's life (S-SUB-14). */
  readonly wildcardSticky: boolean;
  /** `foo/*` in a list of names stands for every name that begins with `foo/` (S-XTP-13). */
  readonly prefixGlob: boolean;
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
  /** The version in the first request of a type on a stream says what the client holds (B-VER-04). */
  readonly resumeVersion: boolean;
  /** State of the World: a new stream that brings the current version is not sent a sole wildcard again (S-REC-05). */
  readonly resumeSkip: PerKind<boolean>;
  /** After an added or changed Cluster its ClusterLoadAssignment is sent again (S-WRM-08). */
  readonly resendEdsOnClusterChange: boolean;
  /** What a request for a type that the server has no description of does to an aggregated stream (S-TYP-07). */
  readonly unknownType: "ignore" | "reject";
  /** A stream whose first request has no node is refused (S-NOD-06). */
  readonly requireNode: boolean;
  /** A node in a later request that differs from the first (S-NOD-04). */
  readonly nodeChange: "ignore" | "reject";
  /**
   * Clusters that are gone are removed last, and what uses new ones is sent after them (S-ORD-05, S-ORD-06). Kinds that take
   * part; none does where Clusters do not.
   */
  readonly makeBeforeBreak: PerKind<boolean>;
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
  /** Who is told of ttls in delta (S-TTL-01, B-TTL-17, client-behaviours E1). */
  readonly ttlDelta: PerKind<TtlRule>;
  /** The same on State of the World streams of one type: a ttl needs a wrapper there (S-TTL-02). */
  readonly ttlSotw: PerKind<TtlRule>;
  /** The same on aggregated State of the World streams (client-behaviours E6). */
  readonly ttlAggregatedSotw: PerKind<TtlRule>;
  /** Polls are held until something changes or their time is over; else each is answered at once (S-RST-10). */
  readonly restLongPoll: boolean;
  /** `if-announced` is taken for `always` (S-TTL-01). */
  readonly ttlWithoutFeature: boolean;
  /** A NACK of a newer answer on an aggregated stream may be that of an older, unsettled one (client-behaviours A16). */
  readonly nackMayBeOfOlder: PerKind<boolean>;
  /** The `Incremental*` methods of 2018 are served (B-DLT-18). */
  readonly incremental2018: boolean;
  /** The service of scopes is served under the spelling of the protocol page too (S-GRP-02). */
  readonly docAliases: boolean;
  /** Of the clusters that it is asked to report, the client leaves the first one out: it is asked for all (client-behaviours H8). */
  readonly lrsIgnoresFirstCluster: boolean;
}

/** Switches without which a method is not served. */
export type MethodSwitch = "incremental2018" | "docAliases";

/** A value for every kind of resource, or values for some kinds, where the others stay as they are. */
export type Override<T> = T extends { readonly otherwise: infer V } ? V | Partial<T> : T;

/** What was switched; everything else is as the client's row or the edition has it. */
export type DialectOverrides = { readonly [F in keyof Dialect]?: Override<Dialect[F]> };
