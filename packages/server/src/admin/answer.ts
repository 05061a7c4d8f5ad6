import type { ApiVersion, TtlVerdict, Variant } from "@xdskit/protocol";
import type { SourceProblem } from "../observe/source-status.ts";

/**
 * One type for each answer of the admin API. Times are ISO 8601 in UTC; what is absent is left out; types are type URLs,
 * with their short name beside them where they have one.
 */

/** A long list, one page of it. */
export interface Page<T> {
  readonly items: readonly T[];
  /** How many there are over all pages. */
  readonly total: number;
  /** The `offset` of the next page, if there is one. */
  readonly next?: number;
}

/** `GET /api/v1/server` */
export interface ServerAnswer {
  readonly version: string;
  readonly controlPlane: string;
  /** Where xDS is served. */
  readonly address?: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly revision: number;
  readonly ready: boolean;
  readonly draining: boolean;
  /** Why it is not ready. */
  readonly reasons: readonly string[];
  readonly connections: number;
  readonly streams: number;
  readonly source: {
    readonly state: string;
    readonly since: string;
    readonly errors: number;
    readonly warnings: number;
  };
  readonly limits: readonly LimitAnswer[];
  readonly writes: { readonly slowClients: number; readonly bufferedBytes: number };
  readonly encoder: {
    readonly segmentsEncoded: number;
    readonly framesEncoded: number;
    readonly bodiesEncoded: number;
    readonly bytesEncoded: number;
  };
  readonly process: { readonly pid: number; readonly node: string; readonly residentBytes: number };
}

export interface LimitAnswer {
  readonly name: string;
  readonly value: number;
  readonly used?: number;
  readonly hits: number;
}

/** `GET /api/v1/layers` */
export type LayersAnswer = Page<LayerAnswer>;

export interface LayerAnswer {
  readonly name: string;
  readonly types: readonly {
    readonly type: string;
    readonly shortName?: string;
    readonly resources: number;
    readonly version: string;
    /** The revision of its last change. */
    readonly changedAt: number;
  }[];
}

/** `GET /api/v1/resources` */
export type ResourcesAnswer = Page<ResourceAnswer>;

export interface ResourceAnswer {
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  /** Of one of several variants of the name: for whom it is, as people read it. */
  readonly constraints?: string;
  readonly version: string;
  readonly layer: string;
  readonly bytes: number;
  readonly aliases?: readonly string[];
  readonly ttlMs?: number;
  readonly onDemand?: boolean;
  readonly references: readonly { readonly type: string; readonly name: string }[];
  /** Why there is no such resource: this stands in its place. */
  readonly error?: ErrorDetailAnswer;
  /** With `body=true`: canonical JSON, secrets replaced. */
  readonly body?: unknown;
  /** With `body=true`, why there is no body. */
  readonly problem?: string;
}

/** `GET /api/v1/conversions` */
export type ConversionsAnswer = Page<ConversionAnswer>;

/** A resource that was converted between v2 and v3, and what the other version cannot express of it. */
export interface ConversionAnswer {
  /** The type that it was converted to. */
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  readonly layer: string;
  /** The path is in the names of the proto files. */
  readonly findings: readonly { readonly path: string; readonly message: string }[];
}

/** A gRPC status: the code, and the text made printable. */
export interface ErrorDetailAnswer {
  readonly code: number;
  readonly message: string;
}

/** What a node calls itself. */
export interface NodeAnswerIdentity {
  readonly id: string;
  readonly cluster: string;
  readonly locality?: { readonly region: string; readonly zone: string; readonly subZone: string };
  readonly userAgent: string;
}

/** `GET /api/v1/nodes` */
export type NodesAnswer = Page<NodeAnswer>;

/** All streams of one node id. */
export interface NodeAnswer extends NodeAnswerIdentity {
  readonly streams: readonly {
    readonly stream: number;
    /** The version of the messages on it. */
    readonly apiVersion: ApiVersion;
    readonly variant: Variant;
    /** It polls over REST: no stream, but shown as one for some minutes after its last poll. */
    readonly isPoller?: true;
    readonly peer: string;
    readonly dialect?: DialectAnswer;
  }[];
  /** Top-most first. */
  readonly layers: readonly string[];
  readonly connectedAt?: string;
  readonly lastRequestAt?: string;
  readonly types: readonly TypeAnswer[];
}

/** Why a stream is spoken to as it is. */
export interface DialectAnswer {
  readonly edition: string;
  /** Who chose the edition; absent: nobody, it is the default. */
  readonly editionBy?: string;
  /** The row of a known client. */
  readonly client?: string;
  /** The listener that it came to. */
  readonly listener?: string;
  /** The rule that was found for it. */
  readonly clients?: string;
  /** What was switched, and by whom: `server`, `listener`, `clients`. */
  readonly switches: readonly { readonly name: string; readonly value: string; readonly by: string }[];
}

/** Where one type stands on one stream. */
export interface TypeAnswer {
  readonly type: string;
  readonly shortName?: string;
  readonly stream: number;
  readonly state: DeliveryFate;
  readonly isWildcard: boolean;
  /** Names asked for beside the wildcard. */
  readonly names: number;
  /** Asked for, and nothing has that name; at most 100 of them. */
  readonly missing: readonly string[];
  /** Names that it was told an error of, in place of a resource; at most 100 of them. */
  readonly errors?: readonly (ErrorDetailAnswer & { readonly name: string })[];
  readonly toldRevision?: number;
  readonly sentVersion?: string;
  /** What the client holds. */
  readonly acked?: ResponseAnswer & { readonly ackedAt?: string };
  readonly nacked?: RefusalAnswer & { readonly nackedAt?: string };
  readonly waits?: WaitAnswer;
  /** Clusters that are gone and that the client is left with until nothing can use them; at most 100 of them. */
  readonly heldOver?: readonly string[];
  /** Whether the client is told of ttls, or why not; absent: no resource of the type has one. */
  readonly ttl?: TtlVerdict;
  /** Sent and not answered, oldest first. */
  readonly pending: readonly ResponseAnswer[];
}

/** What has to come before what there is to be sent of a type. */
export interface WaitAnswer {
  /**
   * `cluster`: the client has to accept a cluster. `endpoints`: a cluster has to get endpoints. `secret`: a
   * secret that a cluster needs has to come. `users`: the client has to
   * accept what may still use a cluster that is gone. `release`: the client asks for a cluster that is gone by its name. `return`: the client came back, and is given time to ask for what it uses.
   */
  readonly for: "cluster" | "endpoints" | "secret" | "users" | "release" | "return";
  /** The cluster. */
  readonly name?: string;
  /** The resources that wait for it; of a type that is told as a whole the first of them; at most 100 of them. */
  readonly resources?: readonly string[];
  /** The type that has to be accepted. */
  readonly type?: string;
  readonly shortName?: string;
  /** The client refused it, so nothing ends the wait but another version of it. */
  readonly refused?: boolean;
  readonly since?: string;
}

export interface ResponseAnswer {
  readonly nonce: string;
  readonly version: string;
  readonly revision: number;
  readonly resources: number;
  readonly removed: number;
  readonly sentAt?: string;
}

export interface RefusalAnswer extends ResponseAnswer {
  readonly code: number;
  /** What the client said, made printable, at most 4096 characters. */
  readonly reason: string;
  /** The resources that were in the refused response; at most 100 of them. */
  readonly refused: readonly string[];
}

/** `GET /api/v1/streams` */
export type StreamsAnswer = Page<StreamAnswer>;

export interface StreamAnswer {
  readonly stream: number;
  /** The version of the messages on it. */
  readonly apiVersion: ApiVersion;
  readonly variant: Variant;
  /** As above. */
  readonly isPoller?: true;
  /** The only type of a per-type stream. */
  readonly onlyType?: string;
  readonly peer: { readonly address: string; readonly isTls: boolean; readonly names: readonly string[] };
  /** Absent before the first request. */
  readonly node?: NodeAnswerIdentity;
  /** Absent before the first request. */
  readonly dialect?: DialectAnswer;
  readonly layers: readonly string[];
  readonly openedAt?: string;
  readonly lastRequestAt?: string;
  readonly lastResponseAt?: string;
  readonly types: readonly TypeAnswer[];
}

/**
 * How it went for one type on one stream. `acked`: the client took everything it was sent. `pending`: it was sent
 * something and has not answered. `nacked`: it refused the newest thing it answered. `requested-but-missing`: it asked
 * only for what does not exist. `sent`: it has what it asked for, and no answer is awaited. `requested`: nothing was sent yet.
 */
export type DeliveryFate = "acked" | "pending" | "nacked" | "sent" | "requested-but-missing" | "requested";

/** `GET /api/v1/deliveries` */
export type DeliveriesAnswer = Page<DeliveryAnswer>;

/** The fate of what one node was sent of one type. */
export interface DeliveryAnswer {
  readonly node: string;
  readonly type: string;
  readonly shortName?: string;
  readonly stream: number;
  readonly state: DeliveryFate;
  /** Of the response that the state is about. */
  readonly version?: string;
  readonly nonce?: string;
  readonly revision?: number;
  /** Since when it is so. */
  readonly since?: string;
  /** What the client holds, beside what the state is about. */
  readonly ackedVersion?: string;
  readonly reason?: string;
  readonly refused?: readonly string[];
  readonly missing?: readonly string[];
  readonly waits?: WaitAnswer;
  readonly heldOver?: readonly string[];
  readonly ttl?: TtlVerdict;
}

/** `GET /api/v1/loads` */
export type LoadsAnswer = Page<LoadAnswer>;

/** What clients report of one cluster. Counts are sums since the server began; what is in progress is the newest word of each client. */
export interface LoadAnswer {
  readonly cluster: string;
  /** The name that its endpoints have, if it is another. */
  readonly service?: string;
  readonly dropped: number;
  readonly droppedBy?: Readonly<Record<string, number>>;
  readonly lastReportAt: string;
  readonly localities: readonly LocalityLoadAnswer[];
}

export interface LocalityLoadAnswer {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
  readonly priority: number;
  readonly issued: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly inProgress: number;
  /** Issued in a second, in the newest interval of each client. */
  readonly requestsPerSecond: number;
  /** Clients whose newest report speaks of it. */
  readonly reporters: number;
  readonly connections?: { readonly active: number; readonly new: number; readonly failed: number };
  readonly metrics?: Readonly<Record<string, { readonly requests: number; readonly total: number }>>;
  /** Where reports for each endpoint are asked for. */
  readonly endpoints?: Readonly<
    Record<string, { readonly issued: number; readonly succeeded: number; readonly failed: number }>
  >;
}

/** `GET /api/v1/load-reporters` */
export type LoadReportersAnswer = Page<LoadReporterAnswer>;

export interface LoadReporterAnswer {
  readonly peer: string;
  /** Absent before its first report. */
  readonly node?: NodeAnswerIdentity;
  readonly reports: number;
  readonly openedAt: string;
  readonly lastReportAt?: string;
  readonly asked?: {
    readonly clusters: "all" | readonly string[];
    readonly intervalMs: number;
    readonly endpoints: boolean;
  };
}

/** `GET /api/v1/source` */
export interface SourceAnswer {
  readonly state: "loading" | "good" | "failed";
  readonly since: string;
  /** Errors first; at most 1,000 of them. */
  readonly problems: readonly SourceProblem[];
  /** How many there are. */
  readonly total: number;
}

/** `GET /readyz` */
export interface ReadyAnswer {
  readonly ready: boolean;
  readonly draining: boolean;
  readonly reasons: readonly string[];
}

/** Every answer that is not 2xx. */
export interface ErrorAnswer {
  readonly error: string;
  /** What to ask instead. */
  readonly hint?: string;
}
