import type { Moment } from "../client/event.ts";
import type { SourceId } from "../client/source.ts";
import type { Entry, Group } from "./graph.ts";
import type { MeshEffect, MeshReport } from "./mesh-effect.ts";

/** What the parts of a mesh share: the moment, the timers, the effects of one event, and what there is to look at when it is over. */
export class MeshTurn {
  #nowMs = 0;
  #effects: MeshEffect[] = [];
  #lastTimer = 0;
  readonly #timers = new Map<number, () => void>();
  /** What has to be published anew. */
  readonly changed: Set<Entry> = new Set();
  /** What is there no more, be it that somebody was told of it or not. */
  readonly gone: Set<Entry> = new Set();
  /** Groups that lost somebody who wanted them. */
  readonly loose: Set<Group> = new Set();
  /** Groups that were answered, or have other members to use: who waits for them may go on. */
  readonly heard: Set<Group> = new Set();
  /** Entries that nobody has to wait for any more. */
  readonly thawed: Set<Entry> = new Set();
  /** Sources whose Clusters began or ended warming. */
  readonly clustersTouched: Set<SourceId> = new Set();
  /** Groups that nobody has answered or given up. */
  unanswered = 0;
  /** Entries with a version that warms. */
  warming = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  get timers(): number {
    return this.#timers.size;
  }

  begin({ nowMs }: Pick<Moment, "nowMs">): void {
    this.#nowMs = nowMs;
  }

  ask(effect: MeshEffect): void {
    this.#effects.push(effect);
  }

  report(report: MeshReport): void {
    this.ask({ kind: "report", report });
  }

  /** Undefined if there is nothing to wait for: 0 is for ever. */
  startTimer(ms: number, then: () => void): number | undefined {
    if (ms === 0) return undefined;
    const timer = ++this.#lastTimer;
    this.#timers.set(timer, then);
    this.ask({ kind: "start-timer", timer, ms });
    return timer;
  }

  cancelTimer(timer: number | undefined): void {
    if (timer !== undefined && this.#timers.delete(timer)) this.ask({ kind: "cancel-timer", timer });
  }

  /** A timer that was cancelled meanwhile is none. */
  fire(timer: number): void {
    const then = this.#timers.get(timer);
    this.#timers.delete(timer);
    then?.();
  }

  /** What they need came to be there, or to be missing. */
  touchUsers(group: Group): void {
    for (const { owner } of group.users) this.changed.add(owner.entry);
  }

  takeEffects(): readonly MeshEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
