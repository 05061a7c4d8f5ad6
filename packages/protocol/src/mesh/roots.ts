import type { DependencyGroup, GraphEntry } from "./graph.ts";
import type { Groups } from "./groups.ts";
import type { MeshRoot, RootId } from "./mesh-event.ts";
import type { MeshTurn } from "./mesh-turn.ts";
import type { Versions } from "./versions.ts";

interface Root {
  readonly spec: MeshRoot;
  /** Undefined while other roots have to be ready first. */
  group: DependencyGroup | undefined;
  timer: number | undefined;
  /** The number of resources of the first answer that are not warm yet. */
  cold: number;
  isDone: boolean;
}

/**
 * The roots of a mesh, and the order in which they are watched (C-WRM-13). A settled event costs nothing for the roots
 * that it does not concern.
 */
export class Roots {
  readonly #turn: MeshTurn;
  readonly #groups: Groups;
  readonly #versions: Versions;
  readonly #roots = new Map<RootId, Root>();
  /** Roots to open: the first ones at once, the last ones when all first ones are done. */
  readonly #unopened = { first: new Set<Root>(), last: new Set<Root>() };
  /** The roots without an answer by their group. */
  readonly #unanswered = new Map<DependencyGroup, readonly Root[]>();
  /** Roots whose group may have been answered. */
  readonly #heard = new Set<Root>();
  /** The roots that wait for an entry to become warm. */
  readonly #waiting = new Map<GraphEntry, readonly Root[]>();
  #isStarted = false;
  /** The numbers of roots that are not done. */
  readonly #undone = { first: 0, last: 0 };

  constructor(turn: MeshTurn, groups: Groups, versions: Versions) {
    this.#turn = turn;
    this.#groups = groups;
    this.#versions = versions;
  }

  add(spec: MeshRoot): void {
    if (this.#roots.has(spec.root)) return;
    const root: Root = { spec, group: undefined, timer: undefined, cold: 0, isDone: false };
    this.#roots.set(spec.root, root);
    this.#unopened[placeOf(root)].add(root);
    this.#undone[placeOf(root)]++;
  }

  remove(id: RootId): void {
    const root = this.#roots.get(id);
    if (root === undefined) return;
    this.#roots.delete(id);
    this.#unopened[placeOf(root)].delete(root);
    this.#finish(root);
    this.#turn.cancelTimer(root.timer);
    const { group } = root;
    if (group === undefined) return;
    this.#forgetUnanswered(root, group);
    this.#groups.unpin(group);
  }

  /** Notes that a group may have been answered. */
  hear(group: DependencyGroup): void {
    for (const root of this.#unanswered.get(group) ?? []) this.#heard.add(root);
  }

  /** Runs after each event: opens roots that may be opened, and marks those that are done. */
  settle(): void {
    this.#open("first");
    this.#look();
    if (this.#undone.first > 0) return;
    this.#open("last");
    this.#look();
    if (this.#isStarted || this.#roots.size === 0 || this.#undone.last > 0) return;
    this.#isStarted = true;
    this.#turn.ask({ kind: "started" });
  }

  #open(place: "first" | "last"): void {
    for (const root of this.#unopened[place]) {
      this.#unopened[place].delete(root);
      const { source, type, term, timeoutMs } = root.spec;
      const group = this.#groups.open({ source, type, term, handed: undefined, wantsConfirmations: false });
      this.#groups.pin(group);
      root.group = group;
      this.#unanswered.set(group, [...(this.#unanswered.get(group) ?? []), root]);
      this.#heard.add(root);
      root.timer = this.#turn.startLimit(timeoutMs, () => {
        root.timer = undefined;
        this.#finish(root);
        this.#versions.giveUpOn(group);
      });
    }
  }

  #look(): void {
    for (const root of this.#heard) this.#takeAnswer(root);
    this.#heard.clear();
    for (const entry of this.#turn.thawed) {
      for (const root of this.#waiting.get(entry) ?? []) if (--root.cold === 0) this.#finish(root);
      this.#waiting.delete(entry);
    }
  }

  #takeAnswer(root: Root): void {
    const { group } = root;
    if (group?.isAnswered !== true) return;
    this.#forgetUnanswered(root, group);
    this.#turn.cancelTimer(root.timer);
    if (root.isDone) return;
    const self = [root];
    for (const entry of group.members.values()) {
      if (!entry.isCold) continue;
      root.cold++;
      const others = this.#waiting.get(entry);
      this.#waiting.set(entry, others === undefined ? self : [...others, root]);
    }
    if (root.cold === 0) this.#finish(root);
  }

  #forgetUnanswered(root: Root, group: DependencyGroup): void {
    const left = (this.#unanswered.get(group) ?? []).filter((one) => one !== root);
    if (left.length > 0) this.#unanswered.set(group, left);
    else this.#unanswered.delete(group);
  }

  #finish(root: Root): void {
    if (root.isDone) return;
    root.isDone = true;
    this.#undone[placeOf(root)]--;
  }
}

function placeOf({ spec }: Root): "first" | "last" {
  return spec.isLast === true ? "last" : "first";
}
