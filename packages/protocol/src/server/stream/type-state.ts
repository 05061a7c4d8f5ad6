import { nameOfTerm } from "../../resource/resource-name.ts";
import { shownName } from "../../resource/variant-name.ts";
import type { View } from "../../state/view.ts";
import { NAMES_SHOWN } from "../ack/body-names.ts";
import type { DeliveryState, TypeState } from "../contract/inspect.ts";
import type { StreamWaits } from "../order/stream-waits.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { StreamErrors } from "./stream-errors.ts";

/** Describes one type on one stream. */
export function typeState(type: TypeStream, view: View, waits: StreamWaits, errors: StreamErrors): TypeState {
  const { traits, subscription, deliveries, position, pendingRemovals } = type;
  const waiting = waits.of(type);
  const delivered = deliveries.describe();
  const isWithoutResponse = deliveries.lastSent === undefined && waiting === undefined;
  const acked = delivered.acked ?? (isWithoutResponse ? cameBackWith(type, view) : undefined);
  return {
    type: traits.type,
    isWildcard: subscription.isWildcard,
    names: subscription.names.size,
    doesNotExist: absentOf(type, view),
    sentRevision: position?.revision,
    sentVersion: deliveries.lastSent?.body.version ?? acked?.version,
    errors: errors.describe(type),
    wait: waiting?.first,
    waiting: [...(waiting?.names.keys() ?? [])].slice(0, NAMES_SHOWN).map(shownName),
    pendingRemovals: [...pendingRemovals.names.keys()].slice(0, NAMES_SHOWN).map(shownName),
    ttl: view.timed(traits.type).resources.length > 0 ? type.ttl : undefined,
    ...delivered,
    acked,
  };
}

/** What a delta client brought the versions of (S-DLT-10), where all of it is current: it is sent no response then. */
function cameBackWith({ traits, subscription, position }: TypeStream, view: View): DeliveryState | undefined {
  if (position === undefined) return undefined;
  let resources = 0;
  for (const term of subscription.names) resources += view.answersTo(traits.type, term).length;
  if (resources === 0) return undefined;
  return { nonce: "", version: view.typeVersion(traits.type), revision: position.revision, resources, removed: 0 };
}

/** Subscribed names without a resource. */
function absentOf({ traits, subscription }: TypeStream, view: View): readonly string[] {
  const absent: string[] = [];
  for (const term of subscription.names) {
    if (absent.length === NAMES_SHOWN) break;
    if (view.answersTo(traits.type, term).length === 0) absent.push(shownName(nameOfTerm(term)));
  }
  return absent;
}
