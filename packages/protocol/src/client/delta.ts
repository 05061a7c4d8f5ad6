import { type DeltaRequest, type InitialVersions, noInitialVersions } from "../message/request.ts";
import { isLocated } from "../resource/variant-name.ts";
import { EVERYTHING } from "./interest.ts";
import type { RequestContents } from "./request-contents.ts";
import type { TypeSubscription } from "./type-subscription.ts";

/**
 * Creates a delta request of a type without its node, which the stream adds. It may combine a first message, an ACK or
 * NACK, and a change of subscriptions (C-DLT-03).
 */
export function deltaRequest(
  topic: TypeSubscription,
  { isFirst, answer, isLegacy, added, dropped }: RequestContents,
  { server, isSticky }: { readonly server: number; readonly isSticky: boolean },
): DeltaRequest {
  const isNameless = isFirst && isLegacy;
  const subscribe = isNameless ? [] : isSticky ? added.filter((term) => term === EVERYTHING) : added;
  const hasLocators = subscribe.some(isLocated) || dropped.some(isLocated) ? { hasLocators: true as const } : {};
  return {
    kind: "delta",
    type: topic.type,
    node: undefined,
    // Only on an ACK or NACK (C-DLT-04).
    nonce: answer?.nonce === "" ? undefined : answer?.nonce,
    error: answer?.error,
    subscribe,
    unsubscribe: dropped,
    initialVersions: isFirst ? initialVersions(topic, server) : noInitialVersions,
    ...hasLocators,
  };
}

/**
 * The held resources by name and version (C-REC-06, C-REC-08). One from another server has an empty version, so that
 * this server replaces or removes it (C-FBK-04).
 */
function initialVersions(topic: TypeSubscription, server: number): InitialVersions {
  let size = 0;
  for (const _ of heldVersions(topic, server)) size++;
  if (size === 0) return noInitialVersions;
  return { size, key: undefined, [Symbol.iterator]: () => heldVersions(topic, server) };
}

function* heldVersions(
  { accepted }: TypeSubscription,
  server: number,
): Generator<readonly [name: string, version: string]> {
  for (const { name, resource, status, server: from } of accepted.entries()) {
    if (resource === undefined || status === "does-not-exist") continue;
    yield [name, from === undefined || from === server ? resource.version : ""];
  }
}

/**
 * Confirms the resources that a first request lists at their version. The server does not resend them, so a Cluster must
 * not go on waiting for endpoints that the previous stream owed (C-WRM-04). Restored resources are confirmed by a
 * response instead.
 */
export function confirmListed(topic: TypeSubscription, server: number): void {
  for (const { name, aliases, resource, status, server: from } of topic.accepted.entries()) {
    if (resource === undefined || status === "does-not-exist" || from !== server) continue;
    for (const term of topic.interest.termsFor(name, aliases))
      topic.confirm(term, { kind: "confirmed", name, resource });
  }
}
