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
  /** Entries of the first answer that are not warm yet; undefined before that answer. */
  remaining: Set<GraphEntry> | undefined;
  isDone: boolean;
}

/** The roots of a mesh, and the order in which they are watched (C-WRM-13). */
export class Roots {
  readonly #turn: MeshTurn;
  readonly #groups: Groups;
  readonly #versions: Versions;
  readonly #roots = new Map<RootId, Root>();
  #isStarted = false;
  /** The number of roots that are not done. */
  #undone = 0;

  constructor(turn: MeshTurn, groups: Groups, versions: Versions) {
    this.#turn = turn;
    this.#groups = groups;
    this.#versions = versions;
  }

  add(spec: MeshRoot): void {
    if (this.#roots.has(spec.root)) return;
    this.#roots.set(spec.root, { spec, group: undefined, timer: undefined, remaining: undefined, isDone: false });
    this.#undone++;
  }

  remove(id: RootId): void {
    const root = this.#roots.get(id);
    if (root === undefined) return;
    this.#roots.delete(id);
    if (!root.isDone) this.#undone--;
    this.#turn.cancelTimer(root.timer);
    if (root.group !== undefined) this.#groups.unpin(root.group);
  }

  /** Runs after each event: opens roots that may be opened, and marks those that are done. */
  settle(): void {
    if (this.#undone === 0 && this.#isStarted) return;
    for (const root of this.#roots.values()) if (root.spec.isLast !== true) this.#open(root);
    for (const root of this.#roots.values()) this.#look(root);
    if (!this.#areDone("first")) return;
    for (const root of this.#roots.values()) {
      this.#open(root);
      this.#look(root);
    }
    if (this.#isStarted || this.#roots.size === 0 || !this.#areDone("all")) return;
    this.#isStarted = true;
    this.#turn.ask({ kind: "started" });
  }

  #areDone(which: "first" | "all"): boolean {
    return [...this.#roots.values()].every(({ isDone, spec }) => isDone || (which === "first" && spec.isLast === true));
  }

  #open(root: Root): void {
    if (root.group !== undefined) return;
    const { source, type, term, timeoutMs } = root.spec;
    const group = this.#groups.open({ source, type, term, handed: undefined, wantsConfirmations: false });
    this.#groups.pin(group);
    root.group = group;
    root.timer = this.#turn.startLimit(timeoutMs, () => {
      root.timer = undefined;
      this.#finish(root);
      this.#versions.giveUpOn(group);
    });
  }

  #look(root: Root): void {
    const { group } = root;
    if (root.isDone || group === undefined || !group.isAnswered) return;
    if (root.remaining === undefined) {
      this.#turn.cancelTimer(root.timer);
      root.remaining = new Set([...group.members.values()].filter(({ isCold }) => isCold));
    }
    for (const entry of this.#turn.thawed) root.remaining.delete(entry);
    if (root.remaining.size === 0) this.#finish(root);
  }

  #finish(root: Root): void {
    root.isDone = true;
    this.#undone--;
  }
}
