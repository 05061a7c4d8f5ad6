import type { WatchEvent } from "../client/watch-event.ts";
import { areSameBytes } from "../resource/same-bytes.ts";
import { type DependencyGroup, newestOf } from "./graph.ts";
import type { Groups } from "./groups.ts";
import type { MeshFailure } from "./mesh-node.ts";
import type { MeshOptions } from "./mesh-options.ts";
import type { MeshTurn } from "./mesh-turn.ts";
import type { Versions } from "./versions.ts";

type EventOf<K extends WatchEvent["kind"]> = Extract<WatchEvent, { kind: K }>;

/** Applies the notifications of watches to the entries. */
export class WatchedState {
  readonly #turn: MeshTurn;
  readonly #options: MeshOptions;
  readonly #groups: Groups;
  readonly #versions: Versions;

  constructor(turn: MeshTurn, options: MeshOptions, groups: Groups, versions: Versions) {
    this.#turn = turn;
    this.#options = options;
    this.#groups = groups;
    this.#versions = versions;
  }

  take(group: DependencyGroup, news: WatchEvent): void {
    switch (news.kind) {
      case "changed":
      case "confirmed":
        this.#there(group, news);
        break;
      case "absent":
        this.#notThere(group, news);
        break;
      case "failed":
        this.#failed(group, news);
        break;
      case "recovered":
        this.#recovered(group);
        break;
      case "synced":
        this.#answered(group);
        break;
      default:
        news satisfies never;
    }
  }

  #there(group: DependencyGroup, { name, resource }: EventOf<"changed" | "confirmed">): void {
    const entry = this.#groups.join(group, name);
    entry.isAbsent = false;
    entry.failure = undefined;
    const newest = newestOf(entry);
    if (newest === undefined || !areSameBytes(newest.resource.bytes, resource.bytes))
      this.#versions.take(entry, resource);
    else if (newest.resource !== resource) newest.resource = resource;
    this.#turn.changed.add(entry);
    if (!group.isCollection) this.#answered(group);
  }

  #notThere(group: DependencyGroup, { name, why, held }: EventOf<"absent">): void {
    const entry = this.#groups.entryNamed(group, name);
    if (entry !== undefined) {
      const isMember = group.members.has(entry.id);
      const isKept = isMember && (held !== undefined || (why !== "expired" && this.#outlives(group)));
      if (isMember && !isKept) this.#groups.leave(group, entry);
      // It still exists if another watch has it.
      if (isKept || newestOf(entry) === undefined) entry.isAbsent = true;
      entry.failure = undefined;
      this.#turn.changed.add(entry);
    }
    if (!group.isCollection) this.#answered(group);
  }

  #outlives(group: DependencyGroup): boolean {
    if (this.#options.childRemovalOf(group.source) === "drop") return false;
    return [...group.users].some(({ dependency }) => dependency.outlivesRemoval === true);
  }

  #failed(group: DependencyGroup, { name, why, error }: EventOf<"failed">): void {
    const entry = name === undefined ? group.asked : this.#groups.entryNamed(group, name);
    // An unreachable server says nothing about a held resource.
    const isTold = name !== undefined || (entry !== undefined && newestOf(entry) === undefined);
    if (isTold && entry !== undefined && !isSame(entry.failure, { why, error })) {
      entry.failure = { why, error };
      this.#turn.changed.add(entry);
    }
    const { source, type, term } = group;
    this.#turn.report({ kind: "watch-failed", source, type, term, name, error });
  }

  #recovered(group: DependencyGroup): void {
    const { source, type, term, asked } = group;
    if (asked?.failure?.why === "unreachable") {
      asked.failure = undefined;
      this.#turn.changed.add(asked);
    }
    this.#turn.report({ kind: "watch-recovered", source, type, term });
  }

  #answered(group: DependencyGroup): void {
    if (!group.isAnswered && !group.isGivenUp) this.#turn.unanswered--;
    if (!group.isAnswered) {
      const { source, type, term, sinceMs } = group;
      this.#turn.report({ kind: "answered", source, type, term, afterMs: this.#turn.nowMs - sinceMs });
    }
    group.isAnswered = true;
    group.answers++;
    this.#turn.heard.add(group);
  }
}

function isSame(a: MeshFailure | undefined, b: MeshFailure): boolean {
  return a?.why === b.why && a.error.code === b.error.code && a.error.message === b.error.message;
}
