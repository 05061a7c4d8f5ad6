import type { ApiVersion, DialectOverrides, Edition, Variant } from "@xdskit/protocol";
import type { MethodSwitch } from "@xdskit/protocol/internal";
import type { TypeName } from "./content/catalog.ts";
import type { ResourceSpec } from "./content/content.ts";

/**
 * A conversation as data: what is published, what clients ask, and everything the server says to it, no more and no less.
 * It is played in memory against the machine and over a connection against a server.
 */
export interface Case {
  /** The requirement that it proves; behind a slash what tells it from others of the same requirement: `S-SUB-02/delta`. */
  readonly id: string;
  /** Other requirements, diagrams (`D4`), open points (`O-3`) and traps of real clients (`T-A7`) that it shows as well. */
  readonly also?: readonly string[];
  /** What the server does, as the end of the sentence "a server …". */
  readonly says: string;
  readonly variant: Variant;
  /** The type that is spoken of wherever a step names no other. */
  readonly type: TypeName;
  /** The kinds of stream it is played on; both if absent. */
  readonly streams?: readonly StreamKind[];
  readonly setup?: Setup;
  /** What the server books is its point: a target that does not tell fails it. Elsewhere such a target is not asked. */
  readonly isAboutBookings?: true;
  /** Why it is not played over the wire, such as time that would really have to pass. */
  readonly memoryOnly?: string;
  readonly steps: readonly Step[];
}

/** `rest` is no stream: a client that polls, of whom each request is answered by itself. */
export type StreamKind = "ads" | "per-type" | "rest";

/** How the server is set up before the first step. */
export interface Setup {
  /** The layers of each node by its id, top-most first; `base` alone for nodes that are not listed. */
  readonly nodeMapping?: NodeLayers;
  readonly edition?: Edition;
  readonly dialect?: DialectOverrides;
  readonly requireNode?: boolean;
  /** What clients of v2 get; where it matters: in memory there is no converter. */
  readonly v2?: "exact";
}

export type NodeLayers = Readonly<Record<string, readonly string[]>>;

/** Something that happens, and all that must follow from it before the next step. */
export type Step = Stimulus & Expectation;

export type Stimulus =
  /** The operator changes resources, in one layer or in several at once. */
  | { readonly publishes: Publication | readonly Publication[]; readonly at?: string }
  /** A client sends a request, or several without waiting in between. A stream that is not open is opened. */
  | { readonly receives: Request | readonly Request[]; readonly on?: string }
  | { readonly opens: Readonly<Record<string, StreamSpec>> }
  /** A connection is lost, and its streams with it. */
  | { readonly breaks: string }
  /** A client gives a stream up. */
  | { readonly cancels: string }
  /** Nodes are placed anew. */
  | { readonly moves: NodeLayers }
  /** So many milliseconds go by. */
  | { readonly passes: number }
  /** A client stops reading a stream, or goes on. */
  | { readonly stalls: string }
  | { readonly drains: string }
  /** The server is replaced by a fresh one that holds the same resources; all streams are lost. */
  | { readonly restarts: string };

/** Resources by type: `a@1` puts, `-a` deletes. */
export type Publication = { readonly [T in TypeName]?: readonly ResourceSpec[] } & {
  /** `base` if absent. */
  readonly layer?: string;
  /** Versions printed for types instead of those made from their content. */
  readonly versions?: { readonly [T in TypeName]?: string };
  /** Types whose responses are marked as canary from now on, or not any more. */
  readonly canaries?: { readonly [T in TypeName]?: boolean };
  /** Printed as delta's system version from now on. */
  readonly system?: string;
};

/** A stream of a client. */
export interface StreamSpec {
  readonly variant?: Variant;
  /** The version of its messages; v3 if absent. A stream of one type is then of that version's method for it. */
  readonly api?: ApiVersion;
  /** It is opened by the other name of its method, which needs that switch (B-DLT-18, S-GRP-02). */
  readonly by?: MethodSwitch;
  /** The case's kind of stream if absent; a type name opens a stream of that type alone. */
  readonly kind?: StreamKind | TypeName;
  /** Sent in the first request; `n1` if absent. */
  readonly node?: NodeSpec;
  /** `c1` if absent. Connections are made when first named. */
  readonly connection?: string;
  /** Which of several servers; there is one without a name. */
  readonly at?: string;
}

/** A node by its id, with what it calls itself and what it announces, or no node at all. */
export type NodeSpec =
  | string
  | { readonly id: string; readonly agent?: string; readonly features?: readonly string[] }
  | "(none)";

/**
 * A request as a well-behaved client would send it now, but for what is written down. In State of the World it carries the
 * newest nonce and the last accepted version of its type on its stream, and the names of the request before; in delta,
 * nothing. `of A` is the nonce or version of the response called A; any other text stands for itself.
 */
export interface Request {
  /** Empty: the request names no type. */
  readonly type?: TypeName | "";
  /** Printed as it is, instead of the type's URL. */
  readonly typeUrl?: string;
  /** State of the World. */
  readonly names?: readonly string[];
  /** Delta. */
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  /** Names with parameters, `a {env=prod}`, or with none, `a {}`: in State of the World beside the names, in delta subscribed. */
  readonly locators?: readonly string[];
  /** Delta. */
  readonly unsubscribeLocators?: readonly string[];
  /** Delta: `a@1` under the version that this content was sent with before; `a=x` under version x. */
  readonly initial?: readonly string[];
  /** Accepts the newest response of the type on the stream, or the one named. */
  readonly ack?: true | string;
  /** Refuses the newest response, or the one named by `of`, with this text. */
  readonly nack?: string;
  readonly of?: string;
  readonly nonce?: string;
  readonly version?: string;
  /** The error of a NACK as it is. */
  readonly error?: { readonly code: number; readonly message: string };
  /** Only the first request of a stream carries one, unless it is written here. */
  readonly node?: NodeSpec;
}

export interface Expectation {
  /** Every response that must have come by now, in the order of each stream; silence if absent. */
  readonly sends?: readonly Response[];
  /** Streams that the server ended in this step, with the name of the status. */
  readonly ends?: Readonly<Record<string, string>>;
  /** Polls that were told that nothing changed. */
  readonly unchanged?: readonly string[];
  /** Which responses the server booked as accepted or refused in this step, all of them. Not looked at if absent. */
  readonly reports?: readonly Booking[];
}

export interface Response {
  readonly on?: string;
  readonly type?: TypeName;
  /**
   * `a@1`; with aliases `a@1 aka x, y`, with a ttl `a@1 for 3000 ms`, a variant `a@1 [env = "prod"]`, with a cache control
   * `a@1 not cached`, with metadata `a@1 with metadata x`. Order does not matter, number does. */
  readonly resources?: readonly string[];
  /** Those of variants with their constraints: `a [env = "prod"]`. */
  readonly removed?: readonly string[];
  /** Names whose resource came without a body. */
  readonly missing?: readonly string[];
  /** `a 7 why` for each name in `resource_errors`: its code, and its text. */
  readonly errors?: readonly string[];
  /** Resources that came without a body under the version of this content: `a@1 for 3000 ms`. */
  readonly heartbeats?: readonly string[];
  /** `same as A`, `not A`, or `is x`; any that is not empty (in State of the World) if absent. */
  readonly version?: string;
  /** Marked as canary. */
  readonly canary?: true;
  /** What later steps call it. */
  readonly as?: string;
}

/** The fate of a response as the server tells it to whoever observes it. What is absent is not compared. */
export interface Booking {
  readonly acked?: string;
  readonly nacked?: string;
  readonly error?: string;
  readonly names?: readonly string[];
}
