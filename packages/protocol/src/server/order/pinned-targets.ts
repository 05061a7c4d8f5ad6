import type { Reference, Resource } from "../../resource/resource.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import { LazyMap } from "../memory/lazy.ts";
import type { Target } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";

/** How often a pinned target is replaced by a newer one that does without what the target waits for. */
const MAX_RESTARTS = 3;

/** The state of a resource that is to be sent, as long as nothing newer can be. */
interface Pinned extends Target {
  /** The revision since which the name waits. */
  readonly since: number;
  /** References that had no resource from the beginning. */
  readonly dangling: ReadonlySet<string>;
  readonly restarts: number;
  /** The newest state that it was compared with. */
  seen: Resource;
}

/** The pinned targets of one type of one client. */
interface Pins {
  readonly view: View;
  readonly byName: Map<string, Pinned>;
}

/** What the judgement of a target depends on. */
export interface TargetJudge {
  readonly current: CurrentView;
  /** Whether the target has to wait. */
  readonly waits: (target: PendingResource) => boolean;
  /** Whether the target references something that is deleted by now and that the client cannot use. */
  readonly leadsNowhere: (target: PendingResource, dangling: ReadonlySet<string>) => boolean;
}

/**
 * The targets of users of Clusters that wait: each as it was when its wait began. If the target were always the newest
 * state, a client would wait as long as new Clusters keep coming (S-ORD-06).
 */
export class PinnedTargets {
  readonly #pins = new LazyMap<TypeStream, Pins>();

  get isEmpty(): boolean {
    return this.#pins.size === 0;
  }

  /** Nothing of the type waits any longer. */
  forget(user: TypeStream): void {
    this.#pins.delete(user);
  }

  /** Names that have waited since this revision without an earlier state being sent; undefined: none. */
  waitingSince(user: TypeStream, revision: number): ReadonlySet<string> | undefined {
    const pins = this.#pins.get(user)?.byName ?? [];
    const names = new Set([...pins].flatMap(([name, { since }]) => (since <= revision ? [name] : [])));
    return names.size === 0 ? undefined : names;
  }

  /** For resources that wait one by one: the target of each that can be sent now; undefined: none. */
  ofEach(
    user: TypeStream,
    waiting: ReadonlyMap<string, PendingResource>,
    judge: TargetJudge,
  ): ReadonlyMap<string, Target | undefined> {
    const { byName } = this.#pinsOf(user, judge.current.view);
    for (const name of byName.keys()) if (!waiting.has(name)) byName.delete(name);
    const mayTell = !user.deliveries.isBlocked;
    const found = new Map<string, Target | undefined>();
    for (const [name, pending] of waiting) {
      const ready = this.#readyOf(byName, pending, judge, user);
      const sent = mayTell ? ready : undefined;
      if (sent !== undefined) byName.set(name, pin(pending.resource, judge));
      found.set(name, sent);
    }
    return found;
  }

  /**
   * For a type that is sent as a whole: the targets, once all resources that waited from the beginning can be sent.
   * Resources that came later are left out. Undefined: not yet.
   */
  ofWhole(
    user: TypeStream,
    waiting: ReadonlyMap<string, PendingResource>,
    all: Iterable<PendingResource>,
    judge: TargetJudge,
  ): ReadonlyMap<string, Target | undefined> | undefined {
    const isNew = this.#pins.get(user)?.view !== judge.current.view;
    const { byName } = this.#pinsOf(user, judge.current.view);
    if (isNew) for (const { resource } of all) byName.set(resource.name, pin(resource, judge));
    const found = new Map<string, Target | undefined>();
    for (const [name, pending] of waiting) {
      if (!byName.has(name)) found.set(name, undefined);
      else {
        const ready = this.#readyOf(byName, pending, judge, user);
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

  /** The target that can be sent for a resource whose newest state has to wait; undefined: none yet. */
  #readyOf(
    byName: Map<string, Pinned>,
    { resource, replaces }: PendingResource,
    judge: TargetJudge,
    { subscription }: TypeStream,
  ): Target | undefined {
    const pinned = byName.get(resource.name);
    if (pinned === undefined) {
      byName.set(resource.name, pin(resource, judge));
      return undefined;
    }
    if (pinned.resource === resource) return undefined;
    const target: PendingResource = { resource: pinned.resource, replaces };
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

function pin(resource: Resource, { current: { view, revision } }: TargetJudge): Pinned {
  const dangling = resource.references.filter((reference) => !view.leadsTo(reference));
  return {
    resource,
    revision,
    since: revision,
    dangling: new Set(dangling.map(keyOf)),
    restarts: 0,
    seen: resource,
  };
}

/** Whether a newer state still references everything that the target uses for the first time. */
function goesOnFrom({ resource, replaces }: PendingResource, newer: Resource): boolean {
  const known = new Set([...newer.references, ...(replaces?.references ?? [])].map(keyOf));
  return resource.references.every((reference) => known.has(keyOf(reference)));
}

/** A key for the resource that a reference leads to. */
export function keyOf({ type, name }: Reference): string {
  return `${type} ${name}`;
}
