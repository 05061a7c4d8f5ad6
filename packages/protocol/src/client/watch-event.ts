import type { Status } from "../message/status.ts";
import type { HeldResource } from "./held.ts";

/** A notification of a watch. Of one event, a watch gets absences before changes (C-CLI-08). */
export type WatchEvent =
  /** The resource is new or differs from before; not sent for equal content (C-CLI-03). */
  | { readonly kind: "changed"; readonly name: string; readonly resource: HeldResource }
  /**
   * The resource does not exist: removed, expired, or never found. `held` is set if the dialect keeps using the last
   * one.
   */
  | {
      readonly kind: "absent";
      readonly name: string;
      readonly why: AbsenceReason;
      readonly held: HeldResource | undefined;
    }
  /**
   * An update failed and what is held stays in use: a rejected update, a resource error, or a server that cannot be
   * reached (C-CLI-04, C-FBK-01). `name` is undefined if everything watched is concerned. An unreachable server is
   * notified once per outage, and again for each other reason, until `recovered`.
   */
  | {
      readonly kind: "failed";
      readonly name: string | undefined;
      readonly why: FailureReason;
      readonly error: Status;
      readonly held: HeldResource | undefined;
    }
  /**
   * The outage behind `unreachable` is over: a server answered, or accepted a stream and kept it open. Sent before what
   * it answers.
   */
  | { readonly kind: "recovered" }
  /** A new response repeats what is held; only for watches that want confirmations (C-WRM-04, C-CLI-03). */
  | { readonly kind: "confirmed"; readonly name: string; readonly resource: HeldResource }
  /**
   * The first response for a wildcard or glob was applied, so its resources are known. Sent once. A delta answer may
   * come in parts of which none is marked as the last; then it is sent after the first part, where Envoy also ends its
   * initial fetch.
   */
  | { readonly kind: "synced" };

export type AbsenceReason =
  /** It existed and was deleted. */
  | "removed"
  /** The server reported that it does not exist, or nothing came in time. */
  | "does-not-exist"
  /** Its TTL ran out (C-TTL-06). */
  | "expired";

export type FailureReason =
  /** The client rejected it (NACK). */
  | "rejected"
  /** The server sent a resource error (C-ERR-06). */
  | "resource-error"
  /** No server can be reached, or a stream ended before its first response. */
  | "unreachable"
  /** Nothing came in time, where that counts as unreachable (C-ERR-10). */
  | "timeout";
