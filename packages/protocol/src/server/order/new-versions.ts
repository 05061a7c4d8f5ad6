import type { Resource } from "../../resource/resource.ts";
import { typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { Wait } from "../contract/wait.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderMembers } from "./order-members.ts";

/** What a resource waits for that is about to be sent; undefined: nothing. */
type WaitOfResource = (resource: Resource) => Wait | undefined;

/**
 * The test for what a Listener waits for if it names something, such as routes, that was deleted and made again while the
 * client stayed subscribed to it; undefined if none has to wait. The client may still have its former version, and would use
 * it with Clusters that are gone: an Envoy keeps routes as long as a Listener drains that used them. So they go first.
 */
export function waitForNewVersions(
  members: Pick<OrderMembers, "users">,
  isCluster: (type: TypeUrl) => boolean,
): WaitOfResource | undefined {
  const named = [...members.users].filter(
    ([type, { current }]) => typeKindTable[type.traits.kind].outlivesDeletion && type.hasNews(current.view),
  );
  if (named.length === 0) return undefined;
  return ({ references }) => {
    for (const [type, { current }] of named) {
      for (const reference of references) {
        if (reference.type !== type.traits.type || !isMadeAgain(type, reference.name, current)) continue;
        const uses = current.view.find(reference.type, reference.name)?.references ?? [];
        const cluster = uses.find((one) => isCluster(one.type));
        if (cluster !== undefined) return { for: "cluster", name: cluster.name };
      }
    }
    return undefined;
  };
}

/** Whether a name is subscribed to, and has a resource that is not sent yet, where there was none. */
function isMadeAgain(named: TypeStream, name: string, current: CurrentView): boolean {
  const { position, subscription, sentState, traits } = named;
  if (position === undefined || !subscription.isNamed(name) || named.isSent(name, current)) return false;
  const held = sentState.heldBack.resources.get(name);
  if (held !== undefined) return held.replaces === undefined;
  return current.newNamesSince(position, traits.type).has(name);
}
