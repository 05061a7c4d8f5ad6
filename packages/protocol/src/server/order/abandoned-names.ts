import { typeKindTable } from "../../resource/type-kinds.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { LazyMap } from "../memory/lazy.ts";
import type { TypeStream } from "../type/type-stream.ts";

/** A name that was deleted while a newer version of it was held back. */
interface AbandonedName {
  /** The revision of what the client has. */
  readonly from: number;
  readonly deletedAt: number;
}

/** What decides whether a client still uses an abandoned name. */
export interface AbandonedJudge {
  readonly current: CurrentView;
  /** The revision up to which the wait of removals timed out. */
  readonly overruledTo: number;
  /** Whether what the client uses refers to resources as the newest Listeners of this revision do, and to no others. */
  readonly hasListenersOf: (revision: number) => boolean;
}

/**
 * Names of users of Clusters that were deleted while a newer version was held back. The client never had that version, and
 * goes on with its own until nothing refers to the name: an Envoy does not drop a route because it was deleted.
 */
export class AbandonedNames {
  readonly #names = new LazyMap<TypeStream, Map<string, AbandonedName>>();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  /** Notes which names are gone of those that the last flush held back. */
  note(user: TypeStream, { view, revision }: CurrentView): void {
    const { type, kind } = user.traits;
    if (!typeKindTable[kind].outlivesDeletion) return;
    for (const [name, { replaces, from }] of user.sentState.heldBack.resources) {
      if (replaces === undefined || view.find(type, name) !== undefined) continue;
      const names = this.#names.get(user) ?? new Map<string, AbandonedName>();
      if (!names.has(name)) names.set(name, { from, deletedAt: revision });
      this.#names.set(user, names);
    }
  }

  /** The stream of this type closed. */
  leave(user: TypeStream): void {
    this.#names.delete(user);
  }

  /** The revision before the oldest name of a type that the client still uses. Infinite: it uses none. */
  usedTo(user: TypeStream, judge: AbandonedJudge): number {
    const names = this.#names.get(user);
    if (names === undefined) return Number.POSITIVE_INFINITY;
    let to = Number.POSITIVE_INFINITY;
    for (const [name, { from, deletedAt }] of names) {
      const isUsed = from >= judge.overruledTo && user.subscription.isNamed(name) && !judge.hasListenersOf(deletedAt);
      if (isUsed && !isBack(user, name, judge.current)) to = Math.min(to, from);
      else names.delete(name);
    }
    if (names.size === 0) this.#names.delete(user);
    return to;
  }
}

/** Whether the name exists again, and the client has it. */
function isBack(user: TypeStream, name: string, current: CurrentView): boolean {
  const { traits, deliveries } = user;
  if (current.view.find(traits.type, name) === undefined || deliveries.mayBring([name])) return false;
  return user.isSent(name, current) && deliveries.refusedFrom === Number.POSITIVE_INFINITY;
}
