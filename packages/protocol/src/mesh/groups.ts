import type { SourceId } from "../client/source.ts";
import { isGlobName, isListName } from "../resource/resource-name.ts";
import type { TypeKind } from "../resource/type-kinds.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { DependencyGroup, GraphEntry, InheritedSource } from "./graph.ts";
import type { MeshWatchId, NodeId } from "./mesh-node.ts";
import type { MeshTurn } from "./mesh-turn.ts";

/** A watch to open. */
export interface Wanted {
  readonly source: SourceId;
  readonly type: TypeUrl;
  readonly term: string;
  readonly handed: InheritedSource | undefined;
  readonly wantsConfirmations: boolean;
}

/** The groups and their entries. A group that no root leads to is closed (C-DEL-03). */
export class Groups {
  readonly #turn: MeshTurn;
  readonly #kindOf: (type: TypeUrl) => TypeKind;
  /** Drops the versions of an entry. */
  readonly #empty: (entry: GraphEntry) => void;
  readonly #byKey = new Map<string, DependencyGroup>();
  readonly #byWatch = new Map<MeshWatchId, DependencyGroup>();
  readonly #entries = new Map<NodeId, GraphEntry>();
  #lastWatch = 0;

  constructor(turn: MeshTurn, kindOf: (type: TypeUrl) => TypeKind, empty: (entry: GraphEntry) => void) {
    this.#turn = turn;
    this.#kindOf = kindOf;
    this.#empty = empty;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get entries(): ReadonlyMap<NodeId, GraphEntry> {
    return this.#entries;
  }

  groups(): Iterable<DependencyGroup> {
    return this.#byKey.values();
  }

  ofWatch(watch: MeshWatchId): DependencyGroup | undefined {
    return this.#byWatch.get(watch);
  }

  find(wanted: Pick<Wanted, "source" | "type" | "term" | "handed">): DependencyGroup | undefined {
    return this.#byKey.get(keyOf({ ...wanted, name: wanted.term }));
  }

  /** Returns the group of a watch and opens it if needed. The caller must pin it or become its user. */
  open(wanted: Wanted): DependencyGroup {
    const found = this.find(wanted);
    if (found !== undefined) return found;
    const { source, type, term, handed, wantsConfirmations } = wanted;
    const group: DependencyGroup = {
      key: keyOf({ ...wanted, name: term }),
      watch: ++this.#lastWatch,
      source,
      type,
      term,
      handed,
      isCollection: term === "*" || isGlobName(term) || isListName(term, type),
      sinceMs: this.#turn.nowMs,
      pins: 0,
      users: new Set(),
      waiters: new Set(),
      members: new Map(),
      cold: 0,
      usable: 0,
      asked: undefined,
      answers: 0,
      isAnswered: false,
      isGivenUp: false,
      isClosed: false,
    };
    this.#byKey.set(group.key, group);
    this.#byWatch.set(group.watch, group);
    this.#turn.unanswered++;
    this.#turn.ask({ kind: "start-watch", watch: group.watch, source, type, term, wantsConfirmations });
    if (!group.isCollection) this.#ask(group);
    return group;
  }

  /** Counts a root or demand that needs the group. */
  pin(group: DependencyGroup): void {
    group.pins++;
    this.#touch(group);
  }

  unpin(group: DependencyGroup): void {
    group.pins--;
    this.#touch(group);
    this.#turn.loose.add(group);
  }

  /** Adds the entry of a name that answers a group, and returns it. */
  join(group: DependencyGroup, name: string): GraphEntry {
    const entry = this.#entryOf(group, name);
    if (!group.isCollection) this.#replaceMembers(group, entry);
    if (!group.members.has(entry.id)) {
      group.members.set(entry.id, entry);
      entry.groups.add(group);
      if (entry.isCold) group.cold++;
      if (entry.isUsable && ++group.usable === 1) this.#turn.touchUsers(group);
      this.#turn.changed.add(entry);
    }
    return entry;
  }

  /** Removes an entry from a group. Returns whether no other group has it as a member. */
  leave(group: DependencyGroup, entry: GraphEntry): boolean {
    if (group.members.delete(entry.id)) {
      if (entry.isCold) group.cold--;
      if (entry.isUsable && --group.usable === 0) this.#turn.touchUsers(group);
      this.#turn.heard.add(group);
    }
    const isElsewhere = [...entry.groups].some((one) => one.members.has(entry.id));
    if (entry !== group.asked) entry.groups.delete(group);
    if (!group.isCollection && group.members.size === 0 && !group.isClosed) this.#ask(group);
    this.#turn.changed.add(entry);
    if (!isElsewhere) {
      this.#empty(entry);
      // A group that watches it by name may have been told before that it does not exist.
      entry.isAbsent = [...entry.groups].some(({ isAnswered }) => isAnswered);
    }
    // A group that still has it may be reachable only through what the entry referred to.
    for (const other of entry.groups) if (other.pins === 0) this.#turn.loose.add(other);
    if (entry.groups.size === 0) this.#forget(entry);
    return !isElsewhere;
  }

  /** Returns the entry that a notification about a name concerns; for a watch of one name, whatever answers it. */
  entryNamed(group: DependencyGroup, name: string): GraphEntry | undefined {
    const entry = this.#entries.get(keyOf({ ...group, name }));
    if (entry?.groups.has(group)) return entry;
    return group.isCollection ? undefined : (group.asked ?? [...group.members.values()][0]);
  }

  /** Closes the groups that no root leads to any more, and those that they alone kept open. */
  sweep(): void {
    const { loose } = this.#turn;
    for (const group of loose) {
      loose.delete(group);
      if (!group.isClosed && !isReachable(group)) this.#close(group);
    }
  }

  /** Publishes the members of a name again, because pins decide whether a node is a root. */
  #touch({ isCollection, members, asked }: DependencyGroup): void {
    if (isCollection) return;
    for (const member of members.values()) this.#turn.changed.add(member);
    if (asked !== undefined) this.#turn.changed.add(asked);
  }

  #close(group: DependencyGroup): void {
    group.isClosed = true;
    this.#byKey.delete(group.key);
    this.#byWatch.delete(group.watch);
    if (!group.isAnswered && !group.isGivenUp) this.#turn.unanswered--;
    this.#turn.ask({ kind: "stop-watch", watch: group.watch });
    this.#turn.heard.add(group);
    const { asked } = group;
    group.asked = undefined;
    for (const entry of [...group.members.values()]) this.leave(group, entry);
    if (asked?.groups.has(group)) this.leave(group, asked);
  }

  #ask(group: DependencyGroup): void {
    if (group.asked !== undefined) return;
    const entry = this.#entryOf(group, group.term);
    entry.groups.add(group);
    group.asked = entry;
    if (group.isAnswered && entry.inUse === undefined && entry.next === undefined) entry.isAbsent = true;
    this.#turn.changed.add(entry);
  }

  /** A watch of one name has one resource, even if that has another name (C-DLT-15). */
  #replaceMembers(group: DependencyGroup, entry: GraphEntry): void {
    for (const other of [...group.members.values()]) if (other !== entry) this.leave(group, other);
    const { asked } = group;
    if (asked === undefined || asked === entry) return;
    group.asked = undefined;
    asked.groups.delete(group);
    this.#turn.changed.add(asked);
    if (asked.groups.size === 0) this.#forget(asked);
  }

  #entryOf(group: DependencyGroup, name: string): GraphEntry {
    const id = keyOf({ ...group, name });
    const found = this.#entries.get(id);
    if (found !== undefined) return found;
    const { source, type, handed } = group;
    const kind = this.#kindOf(type);
    const entry: GraphEntry = {
      id,
      source,
      type,
      name,
      handed,
      isHeldBack: kind === "cds" || kind === "lds",
      groups: new Set(),
      inUse: undefined,
      next: undefined,
      isAbsent: false,
      isCold: false,
      isUsable: false,
      isPublished: false,
      failure: undefined,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  #forget(entry: GraphEntry): void {
    this.#entries.delete(entry.id);
    this.#turn.changed.delete(entry);
    this.#turn.gone.add(entry);
  }
}

/** Unique because sources and types contain no spaces; only the last part may. */
function keyOf({ source, handed, type, name }: Pick<GraphEntry, "source" | "handed" | "type" | "name">): string {
  const down = handed === undefined ? "" : `>${handed.source}>${handed.timeoutMs}`;
  return `${source}${down} ${type} ${name}`;
}

/**
 * Whether a root or demand leads to a group. Searches upwards and depth-first, because the first path usually leads to
 * a root, however many users the group has.
 */
function isReachable(group: DependencyGroup): boolean {
  const seen = new Set<DependencyGroup>();
  const ways: Iterator<DependencyGroup>[] = [[group].values()];
  for (let way = ways.at(-1); way !== undefined; way = ways.at(-1)) {
    const { done, value: next } = way.next();
    if (done === true) ways.pop();
    else if (next.pins > 0) return true;
    else if (!seen.has(next)) {
      seen.add(next);
      ways.push(groupsAbove(next));
    }
  }
  return false;
}

/** Yields the groups whose members refer to it. */
function* groupsAbove({ users }: DependencyGroup): Generator<DependencyGroup, undefined> {
  for (const { owner } of users) yield* owner.entry.groups;
}
