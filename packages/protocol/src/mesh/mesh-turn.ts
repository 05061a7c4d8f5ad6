import type { Moment } from "../client/event.ts";
import type { SourceId } from "../client/source.ts";
import { TimedTurn } from "../client/timed-turn.ts";
import type { DependencyGroup, GraphEntry } from "./graph.ts";
import type { MeshEffect, MeshReport } from "./mesh-effect.ts";

/** What the parts of a mesh share: time, timers, the effects of one event, and the work left at its end. */
export class MeshTurn extends TimedTurn<MeshEffect> {
  #nowMs = 0;
  /** Entries to publish again. */
  readonly changed: Set<GraphEntry> = new Set();
  /** Entries that no longer exist, published or not. */
  readonly gone: Set<GraphEntry> = new Set();
  /** Groups that lost a user or a pin. */
  readonly loose: Set<DependencyGroup> = new Set();
  /** Groups that were answered or whose usable members changed, so that waiting edges may go on. */
  readonly heard: Set<DependencyGroup> = new Set();
  /** Entries that nothing has to wait for any more. */
  readonly thawed: Set<GraphEntry> = new Set();
  /** Sources whose Clusters began or ended warming. */
  readonly clustersTouched: Set<SourceId> = new Set();
  /** The number of groups neither answered nor given up. */
  unanswered = 0;
  /** The number of entries with a warming version. */
  warming = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  begin({ nowMs }: Pick<Moment, "nowMs">): void {
    this.#nowMs = nowMs;
  }

  report(report: MeshReport): void {
    this.ask({ kind: "report", report });
  }

  /** Starts a timer; returns undefined for 0, which means no limit. */
  startLimit(ms: number, then: () => void): number | undefined {
    return ms === 0 ? undefined : this.startTimer(ms, then);
  }

  /** Publishes the users of a group again, because it became usable or unusable. */
  touchUsers(group: DependencyGroup): void {
    for (const { owner } of group.users) this.changed.add(owner.entry);
  }
}
