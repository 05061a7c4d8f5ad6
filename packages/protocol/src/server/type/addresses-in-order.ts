import type { CurrentView } from "../cache/current-view.ts";
import { takersAmong } from "../cache/takers.ts";
import type { PendingResponse, TypeStream } from "./type-stream.ts";

const none: readonly string[] = [];

/**
 * The names of resources that take an address which another one gives up, if both may be sent by the next `next`: they
 * have to come last, in this order.
 */
export function takersOf(type: TypeStream, current: CurrentView): readonly string[] {
  const { traits, sentState } = type;
  if (traits.addressesIn === undefined || sentState.position === undefined || !type.hasNews(current.view)) return none;
  const isPlain = sentState.isPlain && sentState.heldBack.resources.size === 0;
  if (isPlain) return current.takersSince(sentState.position, traits);
  return takersAmong(type.pendingResources(current), traits);
}

/** The answers with these resources at their ends. */
export function takersLast(
  answers: readonly PendingResponse[],
  takers: readonly string[],
  current: CurrentView,
): readonly PendingResponse[] {
  if (takers.length === 0 || answers.length === 0) return answers;
  return answers.map((answer) => ({ ...answer, body: current.takersLast(answer.body, takers) }));
}
