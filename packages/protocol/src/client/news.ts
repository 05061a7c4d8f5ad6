import type { Status } from "../message/status.ts";
import type { HeldResource } from "./held.ts";

/**
 * What a watch is told. In one turn, of one watch, what is gone comes before what is new (C-CLI-08).
 */
export type News =
  /** There is a resource now, or another one than before; not for equal content (C-CLI-03). */
  | { readonly kind: "changed"; readonly name: string; readonly resource: HeldResource }
  /**
   * There is none: it was removed, expired, or was asked for in vain. What is held for it, if anything, goes on being used (dialect).
   */
  | {
      readonly kind: "absent";
      readonly name: string;
      readonly why: AbsenceReason;
      readonly held: HeldResource | undefined;
    }
  /**
   * Something is wrong, and what was known stays in force: a refused update, an error told by the server, a server that cannot be
   * reached (C-CLI-04, C-FBK-01). `name` is undefined where it concerns everything that is watched. That a server cannot be reached is told once of an
   * outage, and again for each other reason, until `recovered`.
   */
  | {
      readonly kind: "failed";
      readonly name: string | undefined;
      readonly why: FailureReason;
      readonly error: Status;
      readonly held: HeldResource | undefined;
    }
  /**
   * A server that could not be reached answers again, or has taken a stream and kept it open: the `unreachable` that was told is over. Before what it
   * answers is told.
   */
  | { readonly kind: "recovered" }
  /** A fresh answer has what is held already; told to those who want to know (C-WRM-04, C-CLI-03). */
  | { readonly kind: "confirmed"; readonly name: string; readonly resource: HeldResource }
  /**
   * The first answer was taken: of everything that was asked for with `*` or a glob, what there is is known. Told once. In delta an answer may come in
   * parts, and nothing tells which is the last: then it is told after the first, where Envoy too ends its waiting.
   */
  | { readonly kind: "synced" };

export type AbsenceReason =
  /** It was there, and is not any more. */
  | "removed"
  /** It was asked for, and the server said that there is none, or said nothing in time. */
  | "does-not-exist"
  /** Its ttl ran out (C-TTL-06). */
  | "expired";

export type FailureReason =
  /** We refused it (NACK). */
  | "rejected"
  /** The server said that it cannot give it (C-ERR-06). */
  | "resource-error"
  /** No server can be reached, or a stream ended before its first answer. */
  | "unreachable"
  /** Nothing came in time, where that counts as unreachable (C-ERR-10). */
  | "timeout";
