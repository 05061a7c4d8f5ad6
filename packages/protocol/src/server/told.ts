import type { Mark } from "../resource/ttl.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Position } from "../state/difference.ts";
import type { View } from "../state/view.ts";
import type { Present } from "./present.ts";
import type { Upcoming } from "./shared-selections.ts";
import type { Subscription } from "./subscription.ts";

/** How far a client was told of a type. */
export interface Told {
  readonly type: TypeUrl;
  /** Undefined: it was told nothing, or is to be told everything. */
  readonly position: Position | undefined;
  /** Terms to be answered whatever the version. */
  readonly asked: ReadonlySet<string>;
  /** What was told out of turn, ahead of the position; undefined: that it does not exist. */
  readonly ahead: ReadonlyMap<string, Mark | undefined>;
  /** Whether a resource is held back, among what is ahead or asked, and what the client goes on using instead. */
  readonly heldBack?: { has(name: string): boolean; replacedBy(name: string): Upcoming["replaces"] };
}

/** Whether a client was told of a name as it stands now. */
export function isTold({ type, position, asked, ahead }: Told, name: string, view: View, present: Present): boolean {
  if (position === undefined || asked.has(name)) return false;
  if (ahead.has(name)) return present.isSame(ahead.get(name), view.holder(type, name));
  return !present.changes.names(position, view, type).has(name);
}

/** What a client is about to be told. */
export function* upcomingFrom(
  { type, position, asked, ahead, heldBack }: Told,
  view: View,
  present: Present,
  subscription: Subscription,
): Iterable<Upcoming> {
  for (const upcoming of present.selections.upcoming(position, view, type, subscription)) {
    // What it would take the place of is not what lies at the position.
    if (heldBack?.has(upcoming.resource.name) !== true) yield upcoming;
  }
  for (const term of [...asked, ...ahead.keys()]) {
    for (const resource of view.answersTo(type, term)) {
      yield { resource, replaces: heldBack?.replacedBy(resource.name) };
    }
  }
}
