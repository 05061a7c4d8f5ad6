import type { TypeKind } from "../resource/type-kinds.ts";

/** A value per kind of resource; `otherwise` applies to kinds without their own. */
export type PerKind<T> = { readonly otherwise: T } & { readonly [K in TypeKind]?: T };

/** Returns the value for a kind. */
export function forKind<T>(values: PerKind<T>, kind: TypeKind): T {
  return values[kind] ?? values.otherwise;
}

/** Whether an empty first request subscribes to everything of a kind. */
export function isWildcardType({ wildcardTypes }: Dialect, kind: TypeKind, variant: "sotw" | "delta"): boolean {
  const is = forKind(wildcardTypes, kind);
  return is === "delta" ? variant === "delta" : is;
}

/** Kinds of stream on which an expired resource has a different effect on a client. */
export type TtlStream = "delta" | "sotw" | "aggregated-sotw";

/** Which clients get TTLs: those that advertise TTL support, all, or none. */
export type TtlRule = "if-announced" | "always" | "never";

/**
 * Every server behaviour in which editions of the protocol, or real clients, differ (requirements 4). The code reads a
 * field at the one branch it concerns; nothing else in this package knows a client's name or an edition's year.
 * `switchTable` has the value for each edition.
 */
export interface Dialect {
  /** An empty first request is a wildcard; `delta`: only on delta streams (S-SUB-08, S-SUB-09, S-MSC-08). */
  readonly wildcardTypes: PerKind<boolean | "delta">;
  /** A type whose first request was empty stays a wildcard for the life of the stream (S-SUB-14). */
  readonly wildcardSticky: boolean;
  /** `foo/*` in a list of names subscribes to every name that begins with `foo/` (S-XTP-13). */
  readonly prefixGlob: boolean;
  /** State of the World: resource names are only hints; the server sends the node's whole view (S-SUB-03). */
  readonly ignoreHints: boolean;
  /** How delta reports a name that does not exist (S-NEX-06, S-NEX-07). */
  readonly deltaMissing: PerKind<"removed" | "empty-resource" | "none">;
  /**
   * What `resource_errors` holds: resource errors, those and the missing names of State of the World, or nothing
   * (S-ERR-01, S-ERR-05, S-RES-15). Types of v2 never have the field.
   */
  readonly resourceErrors: "failed" | "failed-and-missing" | "off";
  /** Delta: a resource error ends a client's wait. If false, the server also reports the name as missing (S-ERR-05). */
  readonly errorsEndWaiting: boolean;
  /** Delta: when the server sends the removal of a resource that the client holds (S-DEL-04 as amended). */
  readonly deltaRemovals: PerKind<"at-once" | "when-unreferenced" | "never">;
  /** Delta: one resource per response (S-RES-07). */
  readonly deltaOnePerResponse: boolean;
  /** The most bytes of resources and names in one response, where an answer may be split (S-RES-08). */
  readonly maxResponseBytes: number;
  /** A client can take the resources of a kind split over several responses (client-behaviours D9). */
  readonly maySplit: PerKind<boolean>;
  /** State of the World: a request whose version differs from that of the response is a NACK too (S-ACK-06). */
  readonly nackByVersion: boolean;
  /** What the server does with the names in a request that has a stale nonce (S-NON-07). */
  readonly staleNonce: "ignore" | "honour-names";
  /** The version in the first request of a type on a stream says what the client holds (B-VER-04). */
  readonly resumeVersion: boolean;
  /**
   * State of the World: on a new stream whose first request has the current version, the server does not resend a sole
   * wildcard (S-REC-05).
   */
  readonly resumeSkip: PerKind<boolean>;
  /** After a Cluster is added or changed, the server resends its ClusterLoadAssignment (S-WRM-08). */
  readonly resendEdsOnClusterChange: boolean;
  /** What a request for a type without a descriptor does to an aggregated stream (S-TYP-07). */
  readonly unknownType: "ignore" | "reject";
  /** Refuse a stream whose first request has no node (S-NOD-06). */
  readonly requireNode: boolean;
  /** What the server does when the node of a later request differs from the first (S-NOD-04). */
  readonly nodeChange: "ignore" | "reject";
  /**
   * Make before break: the server removes deleted Clusters last, and sends what uses a new Cluster after it (S-ORD-05,
   * S-ORD-06). Says which kinds take part; none does if Clusters do not.
   */
  readonly makeBeforeBreak: PerKind<boolean>;
  /** How long a step of that order waits for a silent client, in milliseconds. */
  readonly orderLimitMs: number;
  /**
   * How long a client that reconnects has to subscribe to what it uses before deleted Clusters are removed, in
   * milliseconds.
   */
  readonly resumeGraceMs: number;
  /**
   * The same for a client with one stream per type, which reopens each after its own back-off, in milliseconds
   * (client-behaviours 0.1).
   */
  readonly separateResumeGraceMs: number;
  /** How long newer content waits for the ACK of the previous response, in milliseconds. */
  readonly ackLimitMs: number;
  /**
   * The same for clients that withhold the ACK of Clusters on an aggregated stream while something is warming, in
   * milliseconds (client-behaviours A16).
   */
  readonly withheldAckLimitMs: PerKind<number | undefined>;
  /** Which delta clients get TTLs (S-TTL-01, B-TTL-17, client-behaviours E1). */
  readonly ttlDelta: PerKind<TtlRule>;
  /** The same on State of the World streams of one type, where a TTL needs a resource wrapper (S-TTL-02). */
  readonly ttlSotw: PerKind<TtlRule>;
  /** The same on aggregated State of the World streams (client-behaviours E6). */
  readonly ttlAggregatedSotw: PerKind<TtlRule>;
  /**
   * The server holds a poll until something changes or its time is over. If false, it answers each at once (S-RST-10).
   */
  readonly restLongPoll: boolean;
  /** Treat `if-announced` as `always` (S-TTL-01). */
  readonly ttlWithoutFeature: boolean;
  /**
   * A NACK of the newest response on an aggregated stream may be for an older, unsettled one (client-behaviours A16).
   */
  readonly nackMayBeOfOlder: PerKind<boolean>;
  /** Serve the `Incremental*` methods of 2018 (B-DLT-18). */
  readonly incremental2018: boolean;
  /** Serve the scoped route service under the protocol page's spelling too (S-GRP-02). */
  readonly docAliases: boolean;
  /**
   * The client skips the first cluster that it is asked to report, so the server asks for all clusters
   * (client-behaviours H8).
   */
  readonly lrsIgnoresFirstCluster: boolean;
}

/** Switches that enable a method. */
export type MethodSwitch = "incremental2018" | "docAliases";

/** One value for every kind of resource, or values for some kinds that leave the others as they are. */
export type Override<T> = T extends { readonly otherwise: infer V } ? V | Partial<T> : T;

/** Overridden fields; the row of the known client, then the edition, decides the others. */
export type DialectOverrides = { readonly [F in keyof Dialect]?: Override<Dialect[F]> };
