import type { ClientDialect, Constraints, Edition, RateLimit, Variant } from "@xdskit/protocol";
import type { SourceSpec, statusCode } from "@xdskit/protocol/internal";
import type { TypeName } from "./content/catalog.ts";

/**
 * A conversation of a client as data: what its program watches, what a server says to it, rightly or wrongly, and everything
 * that it asks and tells, no more and no less. It is played in memory against the client machine and over a connection.
 */
export interface ClientCase {
  /** The requirement that it proves; behind a slash what tells it from others of the same requirement: `C-ACK-01/delta`. */
  readonly id: string;
  /** Other requirements, diagrams (`D4`) and rows on which editions disagree (`E1`) that it shows as well. */
  readonly also?: readonly string[];
  /** What the client does, as the end of the sentence "a client …". */
  readonly says: string;
  readonly variant: Variant;
  /** The type that is spoken of wherever a step names no other. */
  readonly type: TypeName;
  /** The kinds of stream it is played on; `ads` and `per-type` if absent. */
  readonly streams?: readonly ClientStreamKind[];
  readonly setup?: ClientSetup;
  /** Why it is not played over the wire, such as time that would really have to pass. */
  readonly memoryOnly?: string;
  readonly steps: readonly ClientStep[];
}

/** How a source is spoken to. */
export type ClientStreamKind = "ads" | "per-type" | "poll" | "file";

/** A source. What is absent: one server, no limits, the node in the first request, 15 s until a name does not exist. */
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
  /** How servers meet who connects, by their place; they accept. */
  readonly meets?: Readonly<Record<number, Meeting>>;
}

export interface ClientSetup extends SourceSetup {
  /** Sources beside the one without a name. */
  readonly others?: Readonly<Record<string, SourceSetup>>;
  /** The random number that comes with every event: at least 0, less than 1; a half if absent. */
  readonly chance?: number;
}

/** A message that cannot be read; one that ends in the middle; one that says it is larger than anything that is taken. */
export type Garbage = "no message" | "cut" | "too large";

/** `hangs`: neither accepts nor refuses. */
export type Meeting = "accepts" | "refuses" | "hangs";

/** Something that happens, and all that must follow from it before the next step. */
export type ClientStep = ClientStimulus & ClientExpectation;

export type ClientStimulus =
  /** The program watches terms, each under its own text unless it is called otherwise. */
  | {
      readonly watches: string | readonly string[];
      readonly type?: TypeName;
      readonly of?: string;
      readonly as?: string;
    }
  | { readonly stops: string | readonly string[] }
  /** The server sends these, one after the other. */
  | { readonly responds: ScriptedResponse | readonly ScriptedResponse[]; readonly on?: string }
  /** The server sends it, and judging it takes until the next step but one. */
  | { readonly arrives: ScriptedResponse; readonly on?: string }
  | { readonly judged: string }
  /** What comes is no response at all: a message that is none, unless told otherwise. */
  | { readonly garbles: string; readonly as?: Garbage }
  /** The server ends a stream. */
  | { readonly ends: string; readonly with: keyof typeof statusCode }
  /** REST: nothing changed; the delay is over. */
  | { readonly unchanged: string }
  | { readonly due: string }
  /** How servers meet who connects from now on. */
  | { readonly meets: Readonly<Record<number, Meeting>>; readonly of?: string }
  /** So many milliseconds go by. */
  | { readonly passes: number }
  /** The client calls itself otherwise from now on. */
  | { readonly describes: string }
  /** What an earlier life kept, as `a@1` under the version `1`. */
  | { readonly restores: readonly string[]; readonly type?: TypeName }
  /** Nothing warms any more. */
  | { readonly warmed: string };

/**
 * A response, written as it is: nothing is filled in but the type. Streams are called by their source (`main`), by their type if
 * it is not that of the case (`main eds`), and by their server if it is not the first (`main at 1`).
 */
export interface ScriptedResponse {
  readonly type?: TypeName;
  /** State of the World: `version_info`; delta: the system version. */
  readonly version?: string;
  readonly nonce?: string;
  readonly resources?: readonly (string | ScriptedResource)[];
  readonly removed?: readonly string[];
  /** `a 7 why`: the name, a status code, a text. */
  readonly errors?: readonly string[];
  /** Who answers. */
  readonly from?: string;
  /** State of the World; seen over the wire only. */
  readonly isCanary?: true;
}

/** A resource that is more than `a@1`, which is the resource `a` with the content, and in delta the version, `1`. */
export interface ScriptedResource {
  /** `a` alone has no body. */
  readonly is: string;
  /** In State of the World it stands in a wrapper, and so does whatever else a bare resource cannot say. */
  readonly version?: string;
  readonly aliases?: readonly string[];
  readonly ttl?: number;
  readonly isWrapped?: true;
  /** For whom it is, of several of its name. */
  readonly when?: Constraints;
  /** Proxies must not keep it; seen over the wire only. */
  readonly doNotCache?: true;
  /** What its body is instead. */
  readonly type?: TypeName;
  /** The client has reasons of its own to refuse it. */
  readonly isBad?: true;
}

export interface ClientExpectation {
  /** Every request, in the order of each stream. */
  readonly asks?: readonly SentRequest[];
  /**
   * Everything that each watch is told: `a@1` for what is there now, `a@1 restored` if it is not confirmed, `a removed`, `a
   * does-not-exist`, `a expired`, `a rejected 13`, `a resource-error 7`, `unreachable 14`, `a timeout 14`, `recovered` and `synced`; behind a comma
   * what goes on being used: `a removed, a@1`.
   */
  readonly tells?: Readonly<Record<string, readonly string[]>>;
  /** Streams that are opened, and given up. */
  readonly opens?: readonly string[];
  readonly closes?: readonly string[];
  /** What is told to counters and logs. Not looked at if absent, nor over the wire. */
  readonly reports?: readonly string[];
}

/** A request as it is: what is absent is not in it. */
export interface SentRequest {
  readonly on?: string;
  readonly type?: TypeName;
  readonly version?: string;
  readonly nonce?: string;
  /** It refuses, with a text in which each of these stands as a word of its own. */
  readonly error?: readonly string[];
  /** The id of the node. */
  readonly node?: string;
  /** Names in any order, and those with parameters as `a {env=prod}`. */
  readonly names?: readonly string[];
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  /** `a=1`: held in the version 1. */
  readonly initial?: readonly string[];
  /** REST: at once, and not at the time of the next poll. */
  readonly isUrgent?: true;
}
