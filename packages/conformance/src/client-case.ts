import type { ClientDialect, Constraints, Edition, RateLimit, Variant } from "@xdskit/protocol";
import type { SourceSpec, statusCode } from "@xdskit/protocol/internal";
import type { CaseLevel } from "./case.ts";
import type { TypeName } from "./content/catalog.ts";

/**
 * A conversation of a client as data: what its program watches, what a server sends, correct or not, and every request
 * and watch event of the client, exactly. It is played in memory against the client machine, and over a connection.
 */
export interface ClientCase {
  /** The requirement that it proves; a suffix after a slash makes the id unique: `C-ACK-01/delta`. */
  readonly id: string;
  /** Other requirements, diagrams (`D4`) and rows on which editions disagree (`E1`) that it covers. */
  readonly also?: readonly string[];
  /** What the client does, as the end of the sentence "a client …". */
  readonly says: string;
  readonly variant: Variant;
  /** The type of every step that names no other. */
  readonly type: TypeName;
  /** The kinds of source that it is played on. @default `ads` and `per-type`, where the type has a stream of its own */
  readonly streams?: readonly ClientStreamKind[];
  readonly setup?: ClientSetup;
  /** Why it is played in memory only, for example because real time would have to pass. */
  readonly memoryOnly?: string;
  /** What a client that does otherwise breaks, where it is not the level of the requirement. */
  readonly level?: CaseLevel;
  readonly steps: readonly ClientStep[];
}

/** How a source is connected. */
export type ClientStreamKind = "ads" | "per-type" | "poll" | "file";

/** A source. Defaults: one server, no limits, the node in the first request, and 15 s until a name counts as absent. */
export interface SourceSetup {
  readonly variant?: Variant;
  readonly kind?: ClientStreamKind;
  readonly edition?: Edition;
  readonly dialect?: Partial<ClientDialect>;
  readonly servers?: number;
  readonly failover?: SourceSpec["failover"];
  readonly nodeIn?: SourceSpec["nodeIn"];
  readonly absenceMs?: number;
  readonly rateLimit?: RateLimit;
  /** How servers, by index, treat a new connection. @default "accepts" */
  readonly meets?: Readonly<Record<number, Meeting>>;
}

export interface ClientSetup extends SourceSetup {
  /** Sources beside the default one, by name. */
  readonly others?: Readonly<Record<string, SourceSetup>>;
  /** The random number of every event, from 0 to less than 1. @default 0.5 */
  readonly chance?: number;
}

/** Invalid bytes: not a message, a truncated message, or one whose length exceeds every limit. */
export type Garbage = "no message" | "cut" | "too large";

/** `hangs` neither accepts nor refuses. */
export type Meeting = "accepts" | "refuses" | "hangs";

/** An event, and everything that must follow from it before the next step. */
export type ClientStep = ClientStimulus & ClientExpectation;

export type ClientStimulus =
  /** The program watches terms; the watches are named after them, or as `as` says. */
  | {
      readonly watches: string | readonly string[];
      readonly type?: TypeName;
      readonly of?: string;
      readonly as?: string;
    }
  | { readonly stops: string | readonly string[] }
  /** The server sends these responses in order. */
  | { readonly responds: ScriptedResponse | readonly ScriptedResponse[]; readonly on?: string }
  /** The server sends a response, and its validation is pending until a later `judged` step. */
  | { readonly arrives: ScriptedResponse; readonly on?: string }
  | { readonly judged: string }
  /** The server sends bytes that are not a valid response. @default "no message" */
  | { readonly garbles: string; readonly as?: Garbage }
  /** The server ends a stream. */
  | { readonly ends: string; readonly with: keyof typeof statusCode }
  /** REST: the resources are unchanged; the poll delay is over. */
  | { readonly unchanged: string }
  | { readonly due: string }
  /** How servers treat a new connection from now on. */
  | { readonly meets: Readonly<Record<number, Meeting>>; readonly of?: string }
  /** Time passes, in milliseconds. */
  | { readonly passes: number }
  /** The client changes its node from now on. */
  | { readonly describes: string }
  /** Restores resources from an earlier run: `a@1` has the version `1`. */
  | { readonly restores: readonly string[]; readonly type?: TypeName }
  /** All warming resources are ready. */
  | { readonly warmed: string };

/**
 * A literal response: only the type has a default. Streams are named after their source (`main`), their type unless it
 * is the case's (`main eds`), and their server unless it is the first (`main at 1`).
 */
export interface ScriptedResponse {
  readonly type?: TypeName;
  /** `version_info` in SotW, the system version in delta. */
  readonly version?: string;
  readonly nonce?: string;
  readonly resources?: readonly (string | ScriptedResource)[];
  readonly removed?: readonly string[];
  /** A resource error `a 7 why`: name, status code and message. */
  readonly errors?: readonly string[];
  /** The control plane's identifier. */
  readonly from?: string;
  /** SotW only; seen over the wire only. */
  readonly isCanary?: true;
}

/** A resource with more than the short form `a@1`: the resource `a` with content `1`, and in delta version `1`. */
export interface ScriptedResource {
  /** `a` alone is a resource without a body. */
  readonly is: string;
  /** In SotW, this and the other fields of the wrapper need a wrapper around the resource. */
  readonly version?: string;
  readonly aliases?: readonly string[];
  readonly ttl?: number;
  readonly isWrapped?: true;
  /** The dynamic parameter constraints of a variant. */
  readonly when?: Constraints;
  /** Cache control; seen over the wire only. */
  readonly doNotCache?: true;
  /** The type of the body, if it is not that of the response. */
  readonly type?: TypeName;
  /** The client's own validation rejects it. */
  readonly isBad?: true;
}

export interface ClientExpectation {
  /** Every request, in the order of each stream. */
  readonly asks?: readonly SentRequest[];
  /**
   * Every event of each watch: `a@1` for a new or changed resource, `a@1 restored` if it is not confirmed yet, `a
   * removed`, `a does-not-exist`, `a expired`, `a rejected 13`, `a resource-error 7`, `unreachable 14`, `a timeout 14`,
   * `recovered` and `synced`; after a comma, the resource that stays in use: `a removed, a@1`.
   */
  readonly tells?: Readonly<Record<string, readonly string[]>>;
  /** Streams that the client opens and closes. */
  readonly opens?: readonly string[];
  readonly closes?: readonly string[];
  /** Events for metrics and logs; compared only if present, and in memory only. */
  readonly reports?: readonly string[];
}

/** A literal request: absent fields are not in it. */
export interface SentRequest {
  readonly on?: string;
  readonly type?: TypeName;
  readonly version?: string;
  readonly nonce?: string;
  /** A NACK whose message contains each of these texts as a word. */
  readonly error?: readonly string[];
  /** The node's id. */
  readonly node?: string;
  /** Names in any order; locators as `a {env=prod}`. */
  readonly names?: readonly string[];
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  /** `a=1`: held in version 1. */
  readonly initial?: readonly string[];
  /** REST: polls at once, without waiting for the delay. */
  readonly isUrgent?: true;
}
