import type { Resource } from "../../resource/resource.ts";
import { WILDCARD } from "../../resource/resource-name.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { Wait } from "../contract/wait.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderedStream, OrderMembers } from "./order-members.ts";

type Member = readonly [TypeStream, OrderedStream];

/**
 * The test for what a Listener waits for that uses scopes, if the client asks for scopes already; undefined if none has
 * to wait. An Envoy goes on asking for them as long as a Listener drains that used some, and a Listener that comes
 * back meanwhile does not warm: it would answer 404 until its scopes and their routes are there. So they go first.
 */
export function waitForKnownScopes(
  { users }: Pick<OrderMembers, "users">,
  isCluster: (type: TypeUrl) => boolean,
): ((resource: Resource) => Wait | undefined) | undefined {
  const members = [...users];
  const lacking = members.filter((scopes) => scopes[0].traits.kind === "srds" && lacksScopes(scopes, members));
  if (lacking.length === 0) return undefined;
  return ({ references }) => {
    for (const [{ traits }, { current }] of lacking) {
      if (!references.some(({ type, name }) => type === traits.type && name === WILDCARD)) continue;
      for (const scope of current.view.members(traits.type)) {
        for (const { type, name } of scope.references) {
          const uses = current.view.find(type, name)?.references ?? [];
          const cluster = uses.find((one) => isCluster(one.type));
          if (cluster !== undefined) return { for: "cluster", name: cluster.name };
        }
      }
    }
    return undefined;
  };
}

/** Whether a client that has no scopes is to have some, did not accept the newest, or lacks routes of them that it asks for. */
function lacksScopes([scopes, stream]: Member, members: readonly Member[]): boolean {
  const { position, subscription, deliveries, pendingRemovals, traits } = scopes;
  const { view } = stream.current;
  if (position === undefined || !subscription.isWildcard || view.coveredBy(traits.type) === 0) return false;
  if (deliveries.unanswered > 0) return true;
  if (scopes.hasNews(view)) {
    // Scopes that replace others wait for the Listener in turn.
    const isFirst = stream.current.newNamesSince(position, traits.type).size === view.coveredBy(traits.type);
    return isFirst && pendingRemovals.isEmpty;
  }
  return members.some(([routes, { current, isAggregated }]) => {
    if (routes.traits.kind !== "rds") return false;
    const isUnanswered = !isAggregated && routes.deliveries.unanswered > 0;
    if (!isUnanswered && !routes.hasNews(view)) return false;
    for (const { references } of view.members(traits.type)) {
      for (const { type, name } of references) {
        if (type !== routes.traits.type || !routes.subscription.isNamed(name)) continue;
        if (isUnanswered || isMissing(routes, name, current)) return true;
      }
    }
    return false;
  });
}

/** Whether the client was not sent a route that it asks for; while a newer one is held back, it goes on with the former. */
function isMissing(routes: TypeStream, name: string, current: CurrentView): boolean {
  const held = routes.sentState.heldBack.resources.get(name);
  return held === undefined ? !routes.isSent(name, current) : held.replaces === undefined;
}
