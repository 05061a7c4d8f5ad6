import { shownName } from "../../resource/variant-name.ts";
import type { View } from "../../state/view.ts";
import { NAMES_SHOWN } from "../ack/body-names.ts";
import type { Standing, StragglerType } from "../contract/progress.ts";
import type { StreamWaits } from "../order/stream-waits.ts";
import type { TypeStream } from "../type/type-stream.ts";

/** A type on a stream, and whether the stream has nothing left to send. */
export interface TypeProgress {
  readonly type: TypeStream;
  readonly view: View;
  readonly isSettled: boolean;
  /** The newest revision that the client may have until it is placed. */
  readonly placedTo: number;
}

/** How far a client is with a revision in one type. */
export function standingOf(progress: TypeProgress, revision: number): Standing {
  const { deliveries, pendingRemovals } = progress.type;
  const isPending =
    deliveries.answeredTo < revision || pendingRemovals.oldest <= revision || !isSentTo(progress, revision);
  if (isPending) return "pending";
  return deliveries.refusedFrom < revision ? "nacked" : "deployed";
}

/** What keeps a client from a revision in one type; undefined: it has it. */
export function describeBehind(
  progress: TypeProgress,
  revision: number,
  waits: Pick<StreamWaits, "of">,
): StragglerType | undefined {
  const standing = standingOf(progress, revision);
  if (standing === "deployed") return undefined;
  const { type } = progress;
  const { deliveries, pendingRemovals, traits } = type;
  const about = { type: traits.type, wait: waits.of(type)?.first, names: [], error: undefined } as const;
  if (standing === "nacked") {
    const { nacked } = deliveries.describe();
    return { ...about, state: "nacked", names: nacked?.names ?? [], error: nacked?.error };
  }
  if (!isSentTo(progress, revision)) return { ...about, state: "not-sent" };
  if (deliveries.answeredTo < revision) return { ...about, state: "pending" };
  const names = [...pendingRemovals.names.keys()].slice(0, NAMES_SHOWN).map(shownName);
  return { ...about, state: "removal", names };
}

/** The highest reach of the types of a client, all of which were left as they are now. */
export function reachedBy(progress: TypeProgress): number {
  const { deliveries, pendingRemovals } = progress.type;
  return Math.min(deliveries.answeredTo, deliveries.refusedFrom, pendingRemovals.oldest - 1, sentTo(progress));
}

/** The revision up to which everything was sent. Infinite: there is nothing to send. */
function sentTo({ type, view, isSettled, placedTo }: TypeProgress): number {
  if (isSettled || !type.hasNews(view)) return placedTo;
  return Math.min(comparedTo(type), placedTo);
}

/** As `sentTo`, for one revision: whether there is news is looked for only if that decides it, which it seldom does. */
function isSentTo({ type, view, isSettled, placedTo }: TypeProgress, revision: number): boolean {
  if (placedTo < revision) return false;
  return isSettled || comparedTo(type) >= revision || !type.hasNews(view);
}

/** The revision up to which everything was compared and not held back. */
function comparedTo(type: TypeStream): number {
  return Math.min(type.position?.revision ?? -1, type.heldBackFrom);
}
