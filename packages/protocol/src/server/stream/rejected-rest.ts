import type { Body, Segment } from "../../message/body.ts";
import type { Variant } from "../../message/variant.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Position } from "../../state/difference.ts";
import { resourcesIn } from "../ack/nack-history.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { PendingResponse, TypeStream } from "../type/type-stream.ts";

/** A flush of one type, after its answers were made. */
export interface AnsweredFlush {
  readonly variant: Variant;
  readonly current: CurrentView;
  /** The position of the client before the flush. */
  readonly from: Position | undefined;
  readonly answers: readonly PendingResponse[];
}

/**
 * What is resent because something changed that a client rejected: the other names of the rejected response, which it
 * may not have applied either. They follow the change in responses of their own, because one of them may be what was
 * rejected, and in two halves, so that it keeps back fewer of them each time (decision 0164).
 */
export function restOfRejected(type: TypeStream, flush: AnsweredFlush): readonly PendingResponse[] {
  const { current, from, answers } = flush;
  const { deliveries, position, traits } = type;
  if (from === undefined || position === from) return [];
  const rest = deliveries.rejectedNames.restOf(current.namesSince(from, traits.type));
  const puts: Resource[] = [];
  const removed: string[] = [];
  for (const [name, isRemoval] of rest) {
    // What is held back, or was sent just now, is no longer what was rejected.
    if (!type.isSent(name, current) || answers.some(({ body }) => resourcesIn(body).has(name))) continue;
    const now = current.view.holder(traits.type, name);
    if (now === undefined && isRemoval && !current.view.refersTo(traits.type, name)) removed.push(name);
    if (now !== undefined && type.subscription.covers(now)) puts.push(now);
  }
  const half = Math.ceil(puts.length / 2);
  // Removals come first, because an addition may take over what they release, such as an address.
  return [
    { puts: puts.slice(0, half), removed, missing: [] },
    { puts: puts.slice(half), removed: [], missing: [] },
  ].flatMap((segment) => resend(type, segment, flush));
}

function resend(type: TypeStream, { puts, ...segment }: Segment, flush: AnsweredFlush): readonly PendingResponse[] {
  if (puts.length + segment.removed.length === 0) return [];
  const { current, variant } = flush;
  const answering = variant === "sotw" ? puts : puts.map((put) => current.answering(put, type.subscription));
  const body: Body = current.ownBody(variant, type.traits.type, { puts: answering, ...segment });
  return [{ body, isInOrder: true, news: [puts] }];
}
