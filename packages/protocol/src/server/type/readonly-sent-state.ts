import type { SentMark } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Position } from "../../state/difference.ts";
import type { Uses } from "../cache/shared-selections.ts";
import type { PendingNameList } from "./pending-names.ts";

/** The state of a client with a resource that is held back. */
export interface HeldBackResource {
  /** What the client goes on using; undefined: nothing of that name. */
  readonly replaces: Uses | undefined;
  /** The revision that the client had before. */
  readonly from: number;
}

/** What a client was sent of a type; read-only. */
export interface ReadonlySentState {
  readonly type: TypeUrl;
  /**
   * The position up to which the client was sent changes; undefined: it was sent nothing, or is to be resent
   * everything.
   */
  readonly position: Position | undefined;
  /**
   * Terms to be answered whatever the version: subscribed to, newly or again, or to be resent.
   */
  readonly pendingNames: PendingNameList;
  /**
   * Terms that were requested while a response was unsettled, and had no resource. The next answer in order sends their
   * resource, even if it is again what it was at the position.
   */
  readonly unansweredNames: ReadonlySet<string>;
  /** What was sent out of order, ahead of the position; undefined: that the name does not exist. */
  readonly sentOutOfOrder: ReadonlyMap<string, SentMark | undefined>;
  /** What is held back, since the last flush. */
  readonly heldBack: { readonly resources: ReadonlyMap<string, HeldBackResource> };
  /** Whether only changes since the position are to be sent. */
  readonly isPlain: boolean;
}
