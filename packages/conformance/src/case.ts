import type { ApiVersion, DialectOverrides, Edition, Variant } from "@xdskit/protocol";
import type { MethodSwitch } from "@xdskit/protocol/internal";
import type { TypeName } from "./content/catalog.ts";
import type { ResourceSpec } from "./content/content.ts";

/**
 * A conversation as data: what is published, what clients request, and every response of the server, exactly. It is
 * played in memory against the machine, and over a connection against a server.
 */
export interface Case {
  /** The requirement that it proves; a suffix after a slash makes the id unique: `S-SUB-02/delta`. */
  readonly id: string;
  /** Other requirements, diagrams (`D4`), open points (`O-3`) and traps of real clients (`T-A7`) that it covers. */
  readonly also?: readonly string[];
  /** What the server does, as the end of the sentence "a server …". */
  readonly says: string;
  readonly variant: Variant;
  /** The type of every step that names no other. */
  readonly type: TypeName;
  /** The kinds of stream that it is played on. @default `ads` and `per-type`, where the type has a stream of its own */
  readonly streams?: readonly StreamKind[];
  readonly setup?: Setup;
  /**
   * The case is about recorded ACKs and NACKs: it is not played against a target that does not report them. In other
   * cases, `reports` is not compared for such a target.
   */
  readonly isAboutBookings?: true;
  /**
   * What a server that does otherwise breaks, where it is not the level of the requirement: `own` is what we chose and
   * no text asks for.
   */
  readonly level?: CaseLevel;
  /** Why it is played in memory only, for example because real time would have to pass. */
  readonly memoryOnly?: string;
  readonly steps: readonly Step[];
}

/** The level of a rule, as in RFC 2119, or `own` for what no text asks for. */
export type CaseLevel = "must" | "should" | "may" | "own";

/** `rest` is a client that polls: each request is answered separately. */
export type StreamKind = "ads" | "per-type" | "rest";

/** The server's configuration before the first step. */
export interface Setup {
  /** The layers of each node id, top-most first; other nodes see `base` alone. */
  readonly nodeMapping?: NodeLayers;
  readonly edition?: Edition;
  readonly dialect?: DialectOverrides;
  readonly requireNode?: boolean;
  /** Serves v2 clients without converting v3 resources. Matters over the wire only: in memory there is no converter. */
  readonly v2?: "exact";
}

export type NodeLayers = Readonly<Record<string, readonly string[]>>;

/** An event, and everything that must follow from it before the next step. */
export type Step = Stimulus & Expectation;

export type Stimulus =
  /** The operator changes resources in one layer, or in several at once. */
  | { readonly publishes: Publication | readonly Publication[]; readonly at?: string }
  /** A client sends one request, or several without waiting in between. A stream that is not open yet is opened. */
  | { readonly receives: Request | readonly Request[]; readonly on?: string }
  | { readonly opens: Readonly<Record<string, StreamSpec>> }
  /** A connection is lost, with all of its streams. */
  | { readonly breaks: string }
  /** A client cancels a stream. */
  | { readonly cancels: string }
  /** The node mapping changes. */
  | { readonly moves: NodeLayers }
  /** Time passes, in milliseconds. */
  | { readonly passes: number }
  /** A client stops reading a stream, or resumes. */
  | { readonly stalls: string }
  | { readonly drains: string }
  /** The server is replaced by a fresh one with the same resources; all streams are lost. */
  | { readonly restarts: string };

/** Resources by type: `a@1` puts, `-a` deletes. */
export type Publication = { readonly [T in TypeName]?: readonly ResourceSpec[] } & {
  /** The layer to change. @default "base" */
  readonly layer?: string;
  /** Type versions to print instead of the digests of their content. */
  readonly versions?: { readonly [T in TypeName]?: string };
  /** Whether responses of these types are marked as canary from now on. */
  readonly canaries?: { readonly [T in TypeName]?: boolean };
  /** The system version that delta responses print from now on. */
  readonly system?: string;
};

/** A client's stream. */
export interface StreamSpec {
  readonly variant?: Variant;
  /** The API version of its messages, and of its method. @default "v3" */
  readonly api?: ApiVersion;
  /** Opens the stream by an alternative method name, which needs this switch (B-DLT-18, S-GRP-02). */
  readonly by?: MethodSwitch;
  /** A type name opens a stream of that type alone. @default the case's kind of stream */
  readonly kind?: StreamKind | TypeName;
  /** The node of the first request. @default "n1" */
  readonly node?: NodeSpec;
  /** The connection, which is opened when first named. @default "c1" */
  readonly connection?: string;
  /** The name of one of several servers; the default one has none. */
  readonly at?: string;
}

/** A node by its id, with user agent and client features, or no node at all. */
export type NodeSpec =
  | string
  | { readonly id: string; readonly agent?: string; readonly features?: readonly string[] }
  | "(none)";

/**
 * A request as a well-behaved client would send it, except for what is written here. A SotW request carries the newest
 * nonce, the last ACKed version and the previous names of its type; a delta request carries nothing by default. `of A`
 * is the nonce or version of the response named A; any other text is literal.
 */
export interface Request {
  /** Empty: the request has no type URL. */
  readonly type?: TypeName | "";
  /** A literal type URL, instead of the type's own. */
  readonly typeUrl?: string;
  /** SotW `resource_names`. */
  readonly names?: readonly string[];
  /** Delta `resource_names_subscribe`. */
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  /** Resource locators, `a {env=prod}` or `a {}`: `resource_locators` in SotW, subscribed in delta. */
  readonly locators?: readonly string[];
  /** Delta only. */
  readonly unsubscribeLocators?: readonly string[];
  /**
   * Delta `initial_resource_versions`: `a@1` with the version under which this content was sent before, or `a=x` with
   * version x.
   */
  readonly initial?: readonly string[];
  /** ACKs the newest response of the type on the stream, or the one named. */
  readonly ack?: true | string;
  /** NACKs the newest response, or the one that `of` names, with this message. */
  readonly nack?: string;
  readonly of?: string;
  readonly nonce?: string;
  readonly version?: string;
  /** A literal `error_detail`. */
  readonly error?: { readonly code: number; readonly message: string };
  /** By default, only the first request of a stream carries a node. */
  readonly node?: NodeSpec;
}

export interface Expectation {
  /** Every response that must have arrived by now, in the order of each stream; none if absent. */
  readonly sends?: readonly Response[];
  /** Streams that the server ended in this step, with the name of the status. */
  readonly ends?: Readonly<Record<string, string>>;
  /** Polls that were answered as unchanged. */
  readonly unchanged?: readonly string[];
  /** Every ACK and NACK that the server recorded in this step; not compared if absent. */
  readonly reports?: readonly Booking[];
}

export interface Response {
  readonly on?: string;
  readonly type?: TypeName;
  /**
   * `a@1`; with aliases `a@1 aka x, y`, with a TTL `a@1 for 3000 ms`, a variant `a@1 [env = "prod"]`, with a cache
   * control `a@1 not cached`, with metadata `a@1 with metadata x`. Compared in any order, but with duplicates.
   */
  readonly resources?: readonly string[];
  /** Removed names; variants with their constraints: `a [env = "prod"]`. */
  readonly removed?: readonly string[];
  /** Names of resources that came without a body. */
  readonly missing?: readonly string[];
  /** `a 7 why` for each entry of `resource_errors`: name, code and message. */
  readonly errors?: readonly string[];
  /** Heartbeats: resources without a body, under the version of this content: `a@1 for 3000 ms`. */
  readonly heartbeats?: readonly string[];
  /** `same as A`, `not A`, or `is x`. By default any version that is not empty (in SotW). */
  readonly version?: string;
  /** The response is marked as canary. */
  readonly canary?: true;
  /** The name by which later steps refer to the response. */
  readonly as?: string;
}

/** An ACK or NACK that the server recorded; absent fields are not compared. */
export interface Booking {
  readonly acked?: string;
  readonly nacked?: string;
  readonly error?: string;
  readonly names?: readonly string[];
}
