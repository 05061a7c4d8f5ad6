import { randomBytes } from "node:crypto";
import type { RevisionFollower } from "@xdskit/protocol/internal";
import { problemCounts } from "@xdskit/source/checks";
import type { NodeGroup } from "../../observe/fleet.ts";
import type { SourceProblem } from "../../observe/source-status.ts";
import type { LiveReading } from "../../workers/messages.ts";
import type { LiveEvents, NodeGroupAnswer } from "../answers/live.ts";
import { mergeNodeParts, mergeProgressParts } from "../merge/live.ts";
import type { AdminView } from "../view.ts";

/** How often readers are told what changed, in milliseconds. */
const TICK_MS = 500;
/**
 * Following another revision looks at every client once, so that it has to wait a tick for each so many nodes. While
 * changes come all the time, that bounds what it costs.
 */
const NODES_PER_TICK = 1_000;
/** After changes in so many ticks in a row, the next one is expected to have another. */
const MOVES_OF_CHURN = 2;
const MAX_GROUPS = 20;

type LivePart = keyof LiveEvents;
const parts: readonly LivePart[] = ["server", "source", "ledger", "progress", "nodes"];

/** One event as it is written. */
export interface FeedEvent {
  /** The cursor with which a reader comes back. */
  readonly id: string;
  readonly name: LivePart;
  readonly data: string;
}

/** Who is told of changes. */
export interface FeedReader {
  take(events: readonly FeedEvent[]): void;
}

/**
 * What the server is like now, in a few parts, each told as a whole when it changed. So a reader that was away needs
 * only the parts that changed since, and nothing is kept for it. Nothing runs without readers, and with them a tick
 * costs the same whatever the number of nodes.
 */
export class EventFeed {
  readonly #view: AdminView;
  /** Tells the cursors of this run from those of another. */
  readonly #run = randomBytes(6).toString("base64url");
  readonly #readers = new Set<FeedReader>();
  readonly #now = new Map<LivePart, FeedEvent & { readonly number: number }>();
  #lastNumber = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The revision whose progress is told, and whether the clients keep that current. */
  #told: { readonly progress: RevisionFollower; readonly isFollowed: boolean } | undefined;
  #ticksToWait = 0;
  /** The newest revision at the last tick, and in how many ticks up to then it was another one. */
  #newest: { readonly revision: number; readonly moves: number } | undefined;
  /** Of the clients of the workers; undefined: not known yet, or there are none. */
  #others: readonly LiveReading[] | undefined;
  #isAsking = false;
  #counted:
    | { readonly problems: readonly SourceProblem[]; readonly counts: ReturnType<typeof problemCounts> }
    | undefined;
  #groups: ({ readonly changes: number } & Pick<LiveEvents["nodes"], "clusters" | "groups" | "userAgents">) | undefined;

  constructor(view: AdminView) {
    this.#view = view;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /**
   * Tells a reader what changed since the event with that id, and everything from now on until the returned function is
   * called. Undefined, or an id that is not of this run: everything is new to it.
   */
  subscribe(reader: FeedReader, lastId?: string): () => void {
    if (this.#timer === undefined) {
      this.tick();
      this.#timer = setInterval(() => this.tick(), TICK_MS).unref();
      this.#askWorkers();
    }
    this.#readers.add(reader);
    const since = this.#numberIn(lastId) ?? 0;
    reader.take(this.current().filter(({ id }) => (this.#numberIn(id) ?? 0) > since));
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.close();
    };
  }

  /** Whether an event id is of this run. */
  knows(id: string): boolean {
    return this.#numberIn(id) !== undefined;
  }

  /** The newest event of every part. */
  current(): readonly FeedEvent[] {
    return [...this.#now.values()].sort((a, b) => a.number - b.number);
  }

  /** Tells the parts that changed. */
  tick(): void {
    if (this.#timer !== undefined) this.#askWorkers();
    const events = parts.flatMap((name) => this.#changed(name) ?? []);
    if (events.length > 0) for (const reader of this.#readers) reader.take(events);
  }

  /** What the clients of workers are like is told with the next tick. */
  #askWorkers(): void {
    const { workers } = this.#view;
    if (workers === undefined || this.#isAsking) return;
    this.#isAsking = true;
    workers
      .askAll("live", {})
      .then((others) => {
        this.#others = others;
      })
      .catch(() => undefined)
      .finally(() => {
        this.#isAsking = false;
      });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#others = undefined;
    this.#endFollowing();
    this.#told = undefined;
    this.#newest = undefined;
    this.#ticksToWait = 0;
  }

  #changed(name: LivePart): FeedEvent | undefined {
    const read = this.#read(name);
    if (read === undefined) return undefined;
    const data = JSON.stringify(read);
    if (this.#now.get(name)?.data === data) return undefined;
    const number = ++this.#lastNumber;
    const event = { id: `${this.#run}.${number}`, name, data, number };
    this.#now.set(name, event);
    return event;
  }

  #read(name: LivePart): LiveEvents[LivePart] | undefined {
    switch (name) {
      case "server":
        return this.#readServer();
      case "source":
        return this.#readSource();
      case "ledger":
        return this.#readLedger();
      case "progress":
        return this.#isKnown ? mergeProgressParts(this.#readProgress(), this.#partsOf("progress")) : undefined;
      case "nodes":
        return this.#isKnown ? mergeNodeParts(this.#readNodes(), this.#partsOf("nodes")) : undefined;
    }
  }

  /** Whether the clients of all processes are. */
  get #isKnown(): boolean {
    return this.#view.workers === undefined || this.#others !== undefined;
  }

  #partsOf<N extends keyof LiveReading>(name: N): readonly LiveReading[N][] {
    return (this.#others ?? []).map((one) => one[name]);
  }

  #readServer(): LiveEvents["server"] {
    const { isReady, isDraining, reasons } = this.#view.readiness();
    return { version: this.#view.version, ready: isReady, draining: isDraining, reasons };
  }

  #readSource(): LiveEvents["source"] {
    const { state, since, problems } = this.#view.source();
    if (this.#counted?.problems !== problems) this.#counted = { problems, counts: problemCounts(problems) };
    return { state, since: since.toISOString(), ...this.#counted.counts };
  }

  #readLedger(): LiveEvents["ledger"] | undefined {
    const ledger = this.#view.ledger();
    if (ledger === undefined) return undefined;
    const { number, held } = ledger;
    return {
      number,
      inForce: this.#view.changeOf(this.#view.revision()),
      ...(held !== undefined && { held: held.number }),
    };
  }

  #readProgress(): LiveEvents["progress"] {
    const { deployedNodes, revision: inForce, pending, nacked } = this.#progressOf(this.#view.revision());
    const revision = this.#view.numberOf(inForce);
    return { head: this.#view.head(), revision, deployed: deployedNodes, pending, nacked };
  }

  /**
   * The progress of the newest revision, or still of one before. While changes come all the time it is that of the last
   * tick's revision, as it is now: to keep it current would cost something for each ACK, to be outdated at once.
   */
  #progressOf(head: number): RevisionFollower {
    const { deployments, fleet } = this.#view;
    const before = this.#newest ?? { revision: head, moves: 0 };
    const moves = before.revision === head ? 0 : before.moves + 1;
    this.#newest = { revision: head, moves };
    if (this.#ticksToWait > 0) this.#ticksToWait--;
    if (this.#told !== undefined) {
      const { progress, isFollowed } = this.#told;
      if (this.#ticksToWait > 0 || (isFollowed && progress.revision === head)) return progress;
    }
    this.#endFollowing();
    this.#ticksToWait = 1 + Math.ceil(fleet.size / NODES_PER_TICK);
    const isFollowed = moves < MOVES_OF_CHURN;
    const progress = deployments.follow(isFollowed ? head : before.revision);
    if (!isFollowed) deployments.unfollow(progress);
    this.#told = { progress, isFollowed };
    return progress;
  }

  #endFollowing(): void {
    if (this.#told?.isFollowed === true) this.#view.deployments.unfollow(this.#told.progress);
  }

  #readNodes(): LiveEvents["nodes"] {
    const { fleet } = this.#view;
    const { size, changes, conditions } = fleet;
    if (this.#groups?.changes !== changes) {
      const { clusters, groups, builds } = fleet;
      this.#groups = {
        changes,
        clusters: largest(clusters),
        groups: largest(groups),
        userAgents: largest(builds),
      };
    }
    return { total: size, ...conditions, streams: this.#view.openStreams(), ...this.#groups };
  }

  #numberIn(id: string | undefined): number | undefined {
    const [run, number] = id?.split(".") ?? [];
    return run === this.#run && number !== undefined && /^\d{1,15}$/.test(number) ? Number(number) : undefined;
  }
}

function largest(groups: ReadonlyMap<string, NodeGroup>): readonly NodeGroupAnswer[] {
  return [...groups]
    .sort(([nameA, a], [nameB, b]) => b.total - a.total || (nameA < nameB ? -1 : 1))
    .slice(0, MAX_GROUPS)
    .map(([name, { total, conditions }]) => ({ name, total, ...conditions }));
}
