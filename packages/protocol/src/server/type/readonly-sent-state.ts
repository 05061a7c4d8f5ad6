import type { SentMark } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Position } from "../../state/difference.ts";

/** How far a client was told of a type. */
export interface ReadonlySentState {
  readonly type: TypeUrl;
  /** Undefined: it was told nothing, or is to be told everything. */
  readonly position: Position | undefined;
  /**
   * Terms to be answered whatever the version: newly named, named again, or owed; with whether the client had nothing of it
   * before.
   */
  readonly pendingNames: ReadonlyMap<string, boolean>;
  /**
   * Terms that were asked for out of turn while nothing answered to them: what does by the next answer in turn is told, even if
   * it is again what it was at the position.
   */
  readonly unansweredNames: ReadonlySet<string>;
  /** What was told out of turn, ahead of the position; undefined: that it does not exist. */
  readonly sentOutOfOrder: ReadonlyMap<string, SentMark | undefined>;
}
