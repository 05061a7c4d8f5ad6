import type { Moment } from "../client/event.ts";
import type { SourceId } from "../client/source.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { Demands } from "./demands.ts";
import type { GraphEntry } from "./graph.ts";
import { Groups } from "./groups.ts";
import type { MeshChanges, MeshEffect } from "./mesh-effect.ts";
import type { MeshEvent } from "./mesh-event.ts";
import type { MeshWatchId } from "./mesh-node.ts";
import type { MeshOptions } from "./mesh-options.ts";
import { MeshTurn } from "./mesh-turn.ts";
import { nodeOf } from "./node-view.ts";
import { Roots } from "./roots.ts";
import { Versions } from "./versions.ts";
import { WatchedState } from "./watched-state.ts";

/**
 * Follows the references of resources and warms what it finds, as a state machine: events in, effects out (C-SUB-21,
 * 3.17). Knows only the notifications of its watches. The cost of an event grows with what it changes, not with the
 * size of the mesh.
 *
 * It publishes accepted resources only. A Listener or Cluster becomes the `resource` of its node once it is warm, and
 * stays so while its next version warms. Everything else is in use as soon as it is accepted, whether its references
 * are there or not (C-WRM-06).
 */
export class MeshMachine {
  readonly #turn = new MeshTurn();
  readonly #options: MeshOptions;
  readonly #groups: Groups;
  readonly #versions: Versions;
  readonly #news: WatchedState;
  readonly #roots: Roots;
  readonly #demands: Demands;
  #wasComplete = true;

  constructor(options: MeshOptions) {
    this.#options = options;
    this.#versions = new Versions(this.#turn, options, () => this.#groups);
    this.#groups = new Groups(this.#turn, options.kindOf, (entry) => this.#versions.empty(entry));
    this.#news = new WatchedState(this.#turn, options, this.#groups, this.#versions);
    this.#roots = new Roots(this.#turn, this.#groups, this.#versions);
    this.#demands = new Demands(this.#turn, options, this.#groups, this.#versions);
  }

  /** The number of watches. */
  get watches(): number {
    return this.#groups.size;
  }

  /** Yields the sources that it watches or may watch, some repeatedly. */
  *sources(): Iterable<SourceId> {
    for (const { source, handed } of this.#groups.groups()) {
      yield source;
      if (handed !== undefined) yield handed.source;
    }
  }

  /** The number of running timers. */
  get timers(): number {
    return this.#turn.timers;
  }

  /** Whether everything watched was answered or given up and nothing is warming. */
  get isComplete(): boolean {
    return this.#turn.unanswered === 0 && this.#turn.warming === 0;
  }

  /** Whether a Cluster of that source is warming, which withholds the ACK in some dialects (C-ACK-15). */
  isWarming(source: SourceId): boolean {
    return this.#versions.isWarming(source);
  }

  /**
   * Returns why an extension config of that type does not fit where it is used, for the validator of C-ECD-04.
   * Undefined if it fits or is not used.
   */
  problemWith(watch: MeshWatchId, configured: TypeUrl | undefined): string | undefined {
    for (const { dependency } of this.#groups.ofWatch(watch)?.users ?? []) {
      const types = dependency.extension?.types ?? [];
      if (types.length > 0 && (configured === undefined || !types.includes(configured)))
        return `expected one of ${types.join(", ")}, got ${configured ?? "nothing"}`;
    }
    return undefined;
  }

  on(event: MeshEvent, moment: Pick<Moment, "nowMs">): readonly MeshEffect[] {
    this.#turn.begin(moment);
    this.#take(event);
    this.#settle();
    this.#tell();
    return this.#turn.takeEffects();
  }

  /**
   * Returns what changed since the last call; undefined if nothing did. A node occurs once, however often it changed.
   */
  takeChanges(): MeshChanges | undefined {
    const { changed, gone } = this.#turn;
    const { entries } = this.#groups;
    const goneIds = [...gone].flatMap(({ id, isPublished }) => (isPublished && !entries.has(id) ? [id] : []));
    const nodes = [...changed].flatMap((entry) => (entries.get(entry.id) === entry ? [this.#nodeOf(entry)] : []));
    gone.clear();
    changed.clear();
    const { isComplete } = this;
    if (nodes.length === 0 && goneIds.length === 0 && isComplete === this.#wasComplete) return undefined;
    this.#wasComplete = isComplete;
    return { changed: nodes, gone: goneIds, isComplete };
  }

  #take(event: MeshEvent): void {
    switch (event.kind) {
      case "root-added":
        this.#roots.add(event.root);
        break;
      case "root-removed":
        this.#roots.remove(event.root);
        break;
      case "news": {
        const group = this.#groups.ofWatch(event.watch);
        if (group !== undefined) this.#news.take(group, event.news);
        break;
      }
      case "timer-fired":
        this.#turn.fire(event.timer);
        break;
      case "demanded":
        this.#demands.add(event);
        break;
      case "demand-withdrawn":
        this.#demands.withdraw(event.demand);
        break;
      default:
        event satisfies never;
    }
  }

  /** Repeats until no change causes another. */
  #settle(): void {
    const { heard, loose, thawed } = this.#turn;
    do {
      for (const group of heard) {
        heard.delete(group);
        this.#versions.recheck(group);
        this.#demands.check(group);
        this.#roots.hear(group);
      }
      this.#roots.settle();
      thawed.clear();
      this.#groups.sweep();
    } while (heard.size > 0 || loose.size > 0);
  }

  #tell(): void {
    const { changed, gone, clustersTouched } = this.#turn;
    for (const source of clustersTouched)
      if (!this.#versions.isWarming(source)) this.#turn.ask({ kind: "warming-ended", source });
    clustersTouched.clear();
    const isChanged = changed.size > 0 || gone.size > 0 || this.isComplete !== this.#wasComplete;
    if (isChanged) this.#turn.ask({ kind: "changed" });
  }

  #nodeOf(entry: GraphEntry): ReturnType<typeof nodeOf> {
    entry.isPublished = true;
    return nodeOf(entry, this.#options);
  }
}
