import type { Reference, Resource } from "../../resource/resource.ts";
import type { View } from "../../state/view.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import type { Target } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";

/** How often what a client waits for makes way for something newer that does without what it waits for. */
const MAX_RESTARTS = 3;

/** What a client is to be told of a resource, as long as nothing newer can be told. */
interface Pinned extends Target {
  /** The revision since which the client waits for anything of that name. */
  readonly since: number;
  /** What it refers to and was not there from the beginning. */
  readonly dangling: ReadonlySet<string>;
  readonly restarts: number;
  /** The newest that it was compared with. */
  seen: Resource;
}

/** What one type of one client waits for. */
interface Pins {
  readonly view: View;
  readonly byName: Map<string, Pinned>;
}

/** What is looked at to judge a target. */
export interface TargetJudge {
  readonly view: View;
  readonly revision: number;
  /** Whether it has to wait. */
  readonly waits: (target: Upcoming) => boolean;
  /** Whether it refers to something that is gone by now and that the client cannot use. */
  readonly leadsNowhere: (target: Upcoming, dangling: ReadonlySet<string>) => boolean;
}

/**
 * What the users of Clusters that wait are to be told: each as it was when its wait began. Were it always the newest, a client
 * would wait for as long as Clusters keep coming (S-ORD-06).
 */
export class PinnedTargets {
  readonly #pins = new Map<TypeStream, Pins>();

  /** Nothing of a type waits any longer. */
  forget(user: TypeStream): void {
    this.#pins.delete(user);
  }

  /** Names of a type that have waited since that revision, and of which nothing was told in the meantime; undefined: none. */
  waitingSince(user: TypeStream, revision: number): ReadonlySet<string> | undefined {
    const pins = this.#pins.get(user)?.byName ?? [];
    const names = new Set([...pins].flatMap(([name, { since }]) => (since <= revision ? [name] : [])));
    return names.size === 0 ? undefined : names;
  }

  /** Of resources that wait one by one: with each what can be told instead; undefined: nothing. */
  ofEach(
    user: TypeStream,
    waiting: ReadonlyMap<string, Upcoming>,
    judge: TargetJudge,
  ): ReadonlyMap<string, Target | undefined> {
    const { byName } = this.#pinsOf(user, judge.view);
    for (const name of byName.keys()) if (!waiting.has(name)) byName.delete(name);
    const mayTell = !user.deliveries.isBlocked;
    const found = new Map<string, Target | undefined>();
    for (const [name, upcoming] of waiting) {
      const ready = this.#readyOf(byName, upcoming, judge, user);
      const told = mayTell ? ready : undefined;
      if (told !== undefined) byName.set(name, pin(upcoming.resource, judge));
      found.set(name, told);
    }
    return found;
  }

  /**
   * Of a type that is told as a whole: the same, once each of those that waited from the beginning can be told. Undefined: not
   * yet. What came later is left out.
   */
  ofWhole(
    user: TypeStream,
    waiting: ReadonlyMap<string, Upcoming>,
    all: Iterable<Upcoming>,
    judge: TargetJudge,
  ): ReadonlyMap<string, Target | undefined> | undefined {
    const isNew = this.#pins.get(user)?.view !== judge.view;
    const { byName } = this.#pinsOf(user, judge.view);
    if (isNew) for (const { resource } of all) byName.set(resource.name, pin(resource, judge));
    const found = new Map<string, Target | undefined>();
    for (const [name, upcoming] of waiting) {
      if (!byName.has(name)) found.set(name, undefined);
      else {
        const ready = this.#readyOf(byName, upcoming, judge, user);
        if (ready === undefined) return undefined;
        found.set(name, ready);
      }
    }
    if (user.deliveries.isBlocked) return undefined;
    this.#pins.delete(user);
    return found;
  }

  #pinsOf(user: TypeStream, view: View): Pins {
    const known = this.#pins.get(user);
    if (known?.view === view) return known;
    const made = { view, byName: new Map<string, Pinned>() };
    this.#pins.set(user, made);
    return made;
  }

  /** What can be told of a resource whose newest version has to wait; undefined: nothing yet. */
  #readyOf(
    byName: Map<string, Pinned>,
    { resource, replaces }: Upcoming,
    judge: TargetJudge,
    { subscription }: TypeStream,
  ): Target | undefined {
    const pinned = byName.get(resource.name);
    if (pinned === undefined) {
      byName.set(resource.name, pin(resource, judge));
      return undefined;
    }
    if (pinned.resource === resource) return undefined;
    const target: Upcoming = { resource: pinned.resource, replaces };
    const isReplaced = pinned.seen !== resource && pinned.restarts < MAX_RESTARTS && !goesOnFrom(target, resource);
    pinned.seen = resource;
    if (isReplaced || judge.leadsNowhere(target, pinned.dangling) || !subscription.covers(pinned.resource)) {
      const restarts = pinned.restarts + (isReplaced ? 1 : 0);
      byName.set(resource.name, { ...pin(resource, judge), since: pinned.since, restarts });
      return undefined;
    }
    return judge.waits(target) ? undefined : pinned;
  }
}

function pin(resource: Resource, { view, revision }: TargetJudge): Pinned {
  const dangling = resource.references.filter(({ type, name }) => view.find(type, name) === undefined);
  return {
    resource,
    revision,
    since: revision,
    dangling: new Set(dangling.map(keyOf)),
    restarts: 0,
    seen: resource,
  };
}

/** Whether a newer version still wants all that a target uses for the first time. */
function goesOnFrom({ resource, replaces }: Upcoming, newer: Resource): boolean {
  const known = new Set([...newer.references, ...(replaces?.references ?? [])].map(keyOf));
  return resource.references.every((reference) => known.has(keyOf(reference)));
}

/** What a reference leads to, as a key. */
export function keyOf({ type, name }: Reference): string {
  return `${type} ${name}`;
}
