import { setTimeout as delay } from "node:timers/promises";
import type { TypeUrl } from "@xdskit/protocol";
import type {
  EntryChange,
  FuseTrip,
  HeldRecord,
  LedgerEffect,
  LedgerRecord,
  LedgerState,
  Steps,
  TypeKind,
} from "@xdskit/protocol/internal";
import { Slices } from "../slices.ts";
import type { SubscribedNode } from "./affected-nodes.ts";
import { DecisionPlanner } from "./decision-planner.ts";
import { EmptiedFuse } from "./emptied-fuse.ts";
import { EntryMaker } from "./entries.ts";
import { EntryMemory, type EntryRules } from "./entry-memory.ts";
import { HeldContent } from "./held-content.ts";
import { type HeldEndpoint, HeldEndpoints } from "./held-endpoints.ts";
import { isChange, isInForce, LedgerHistory } from "./history.ts";
import { type PublishTarget, StateInForce } from "./in-force.ts";
import type { HeldLease } from "./lease.ts";
import { LedgerReader, type ReaderStop } from "./ledger-reader.ts";
import type { ObservedOperation, OperationObserver } from "./operation-observer.ts";
import { isLive, OperationPerformer, type PlannedOperation } from "./operation-performer.ts";
import { type NewRecord, noResourceChanges, type OperationPlan, refuse, unchanged } from "./operation-plan.ts";
import { type Operation, OperationQueue } from "./operation-queue.ts";
import { PastClusters } from "./past-clusters.ts";
import type { ChangePlan, PlannedEntries } from "./plan.ts";
import type {
  Authorship,
  Decision,
  MissingContent,
  Publication,
  PublishResult,
  RollbackOptions,
  WaitingDeletion,
} from "./publication.ts";
import { PublicationPlanner } from "./publication-planner.ts";
import { type ReadLedger, readLedger, readLedgerUpTo } from "./reading.ts";
import { Compactor, type Retention } from "./retention.ts";
import type { AppendResult, LedgerStore } from "./store.ts";
import { StoreStatus } from "./store-status.ts";
import { stringify } from "./stringify.ts";

/** How often operations are planned again because another process was first. */
const MOST_CONFLICTS = 20;
/** After how long a store that cannot be read is read again, in milliseconds. */
const READ_AGAIN_MS = 1_000;

export interface PublisherOptions extends EntryRules {
  readonly store: LedgerStore;
  readonly retention: Retention;
  /**
   * The entries that were made of resources already, by the same rules.
   * @default none
   */
  readonly entries?: EntryMemory;
  /**
   * For how long endpoints that become empty are held back, in milliseconds.
   * @default "off"
   */
  readonly endpointsEmptiedMs?: number | "off" | undefined;
  readonly kindOf: (type: TypeUrl) => TypeKind;
  /** Which fuses a change trips. */
  readonly judge: (change: LedgerEffect, state: LedgerState) => Steps<readonly FuseTrip[]>;
  /** The connected nodes before a change and after it. */
  readonly nodesBy: (change: LedgerEffect, state: LedgerState) => Iterable<SubscribedNode>;
  readonly target: PublishTarget;
  /**
   * Whether this process may publish now; a lease: while it is held. Decisions need none.
   * @default always
   */
  readonly mayPublish?: () => HeldLease | boolean;
  /**
   * Runs the operations that may put something in force.
   * @default just runs them
   */
  readonly observe?: OperationObserver;
  /** Called with each record that is durable and in force, and what it changes. */
  readonly onRecorded: (record: LedgerRecord, changes: readonly EntryChange[]) => void;
  readonly onResumed: (resumed: Resumed) => void;
  /** Called if records cannot be written. */
  readonly onProblem: (message: string) => void;
}

/** What was put in force at the start. */
export interface Resumed {
  readonly number: number;
  readonly resources: number;
  readonly missing: number;
}

/** Operations that are recorded together. */
interface PlannedGroup {
  readonly planned: PlannedOperation[];
  readonly records: LedgerRecord[];
  readonly bodies: Map<string, Uint8Array>;
  lease: HeldLease | undefined;
}

/** Why records were not appended. */
interface Unrecorded {
  /** `away`: the engine of a shared store, which comes back. */
  readonly kind: "raced" | "away" | "failed";
  readonly reason: string;
}

const STANDBY = "another server publishes to the store; this one follows";

/**
 * The ledger of a server: records every change of the published state, durably, before it is in force. Operations take
 * effect one after the other; those that wait during an append go into the next one together. What grows with a change is
 * done in slices, so the state of the reader is whole only between operations.
 */
export class Publisher {
  /** What was recorded. */
  readonly history: LedgerHistory;
  readonly #options: PublisherOptions;
  readonly #entries: EntryMaker;
  readonly #compactor: Compactor;
  readonly #slices = new Slices();
  readonly #operations = new OperationQueue((operations) => this.#take(operations));
  readonly #inForce: StateInForce;
  readonly #reader: LedgerReader;
  readonly #content: HeldContent;
  readonly #performer: OperationPerformer;
  readonly #publications: PublicationPlanner;
  readonly #decisions: DecisionPlanner;
  readonly #status: StoreStatus;
  readonly #emptied: HeldEndpoints;
  readonly #closing = new AbortController();
  /** Aborted when what is waited for in the store is another number. */
  #waiting = new AbortController();
  #following: Promise<void> | undefined;
  /** What a source published last. */
  #source: Publication | undefined;
  /** What a source published last, if it is known to be in force. */
  #sourceInForce: Publication | undefined;
  /** How many records there were that are not of live data. */
  #decisionCount = 0;
  #difference:
    | { readonly source: Publication; readonly upon: number; readonly told: Promise<string | undefined> }
    | undefined;

  private constructor(options: PublisherOptions, read: ReadLedger, compactor: Compactor) {
    const { store, digest, target, entries: memory = new EntryMemory(options) } = options;
    this.history = new LedgerHistory(store);
    this.#options = options;
    const slices = this.#slices;
    this.#entries = new EntryMaker({ memory, digest, slices });
    this.#compactor = compactor;
    this.#inForce = new StateInForce(target, options.kindOf, this.#slices);
    this.#performer = new OperationPerformer({
      ...{ inForce: this.#inForce, slices, onProblem: options.onProblem },
      onRecorded: (record, changes) => {
        this.#noteDecision(record);
        options.onRecorded(record, changes);
      },
    });
    this.#content = new HeldContent(store, digest);
    const emptied = new EmptiedFuse(options.endpointsEmptiedMs);
    const planning = { ...options, slices, inForce: this.#inForce, content: this.#content, emptied };
    this.#publications = new PublicationPlanner({ ...planning, entries: this.#entries, history: this.history });
    this.#decisions = new DecisionPlanner(planning);
    const onRead = (record: LedgerRecord, changes: readonly EntryChange[]): void => this.#takeNote(record, changes);
    this.#reader = new LedgerReader({ store, digest, slices, inForce: this.#inForce, onRead }, read);
    this.#status = new StoreStatus({ ...planning, reader: this.#reader });
    this.#emptied = new HeldEndpoints({
      ...planning,
      release: (plan) => void this.#operations.add(plan).catch(() => undefined),
    });
  }

  /** Reads the ledger and puts in force what was; the server serves it from then on. */
  static async open(options: PublisherOptions): Promise<Publisher> {
    const compactor = new Compactor(options);
    // A follower serves what comes before a record that it does not know.
    const isShared = options.store.refresh !== undefined;
    const readStore = isShared ? readLedgerUpTo : readLedger;
    const past = isShared ? new PastClusters((type) => options.kindOf(type) === "cds") : undefined;
    const read: ReadLedger = await readStore(options.store, {
      onSnapshot: (state) => past?.begin(state),
      onRecord: (record, changes) => {
        compactor.count(record);
        past?.take(changes);
      },
    });
    const publisher = new Publisher(options, read, compactor);
    const states = (await past?.read(options.store, options.digest)) ?? [];
    if (states.length > 0) options.target.restorePast?.(states);
    if (read.state.number > 0) await publisher.#resume(read.state);
    publisher.#emptied.follow(read.state);
    publisher.#tellInForce();
    if (options.store.refresh !== undefined) publisher.#following = publisher.#follow();
    return publisher;
  }

  /** The newest record that is durable and, if it is a change, in force. */
  get number(): number {
    return this.#inForce.number;
  }

  get held(): HeldRecord | undefined {
    return this.#inForce.held;
  }

  /** The resources in force whose content is not at hand: clients keep what they have of them. */
  get missing(): readonly MissingContent[] {
    return this.#inForce.missing;
  }

  /** The endpoints that are held back because they became empty. */
  get emptied(): readonly HeldEndpoint[] {
    return this.#emptied.list;
  }

  /** Resolves when a record is in force, or the signal aborts. */
  whenInForce(number: number, signal: AbortSignal): Promise<void> {
    return this.#inForce.whenReached(number, signal);
  }

  /** Live data that is deleted once nothing refers to it. */
  get waiting(): readonly WaitingDeletion[] {
    return this.#publications.waiting;
  }

  /** What this process has seen of the store. */
  get store(): Pick<LedgerStore, "head" | "outage" | "onOutage" | "refresh" | "copy" | "members"> {
    return this.#options.store;
  }

  /** Why nothing of the store is applied any more; undefined: it is. */
  get stop(): ReaderStop | undefined {
    return this.#reader.stop;
  }

  /** The revision of the server that a number is; undefined if it is not reached, or not known any more. */
  revisionOf(number: number): number | undefined {
    return this.#inForce.revisionOf(number);
  }

  /** The number of the newest change that is in force at a revision. */
  changeOf(revision: number): number {
    return this.#inForce.changeOf(revision);
  }

  /** The newest number that is in force at a revision. */
  numberOf(revision: number): number {
    return this.#inForce.numberOf(revision);
  }

  /** The number of the newest change in force at a revision, live data left out; undefined: there is none. */
  stableChangeOf(revision: number): number | undefined {
    return this.#inForce.stableChangeOf(revision);
  }

  /** How what a source published last differs from what is in force, and since when; undefined: it does not. */
  async sourceDifference(): Promise<string | undefined> {
    const source = this.#source;
    if (source === undefined || source === this.#sourceInForce || this.held !== undefined) return undefined;
    if (this.#difference?.source !== source || this.#difference.upon !== this.#decisionCount) {
      const told = this.#operations.look(() => this.#describeDifference(source));
      this.#difference = { source, upon: this.#decisionCount, told };
    }
    return await this.#difference.told;
  }

  async #describeDifference(source: Publication): Promise<string | undefined> {
    const { result } = await this.#publications.preview(source, this.#reader.state);
    this.#entries.forgetBodies();
    if (result === "unchanged") return undefined;
    const isWanted = ({ kind }: LedgerRecord): boolean => kind === "rolled-back" || kind === "rejected";
    const [decision] = await this.history.newest({ before: this.number + 1, limit: 1, isWanted });
    const by = decision && ` (${decision.kind === "rejected" ? "rejected" : "rolled back"} by ${decision.number})`;
    return `the files differ from what is in force${by ?? ""}`;
  }

  publish(publication: Publication): Promise<PublishResult> {
    return this.#observe("publish", publication, () =>
      this.#operations.add(
        (state) => this.#planPublication(publication, state),
        () => this.#publications.liveOf(publication, this.#reader.state),
      ),
    );
  }

  /** What `publish` would do now. Records nothing, and nothing comes in force. */
  async plan(given: Publication, entries: PlannedEntries = []): Promise<ChangePlan> {
    await this.catchUp();
    for (const [resource, entry] of entries) this.#entries.know(resource, entry);
    return await this.#operations.look(async () => {
      const plan = await this.#publications.preview(given, this.#reader.state);
      this.#entries.forgetBodies();
      return plan;
    });
  }

  /** What a decision would do if it were made now. Records nothing. */
  planDecision(decision: Decision, number: number): Promise<ChangePlan> {
    return this.#operations.look(() => this.#decisions.preview(decision, number, this.#reader.state));
  }

  /** Puts the held change `number` in force. */
  approve(number: number, by: Authorship = {}): Promise<PublishResult> {
    const plan = async (state: LedgerState): Promise<OperationPlan> => {
      const planned = await this.#decisions.approval(number, by, state);
      this.#publications.forgetLast();
      if (planned.effect !== undefined && state.held?.number === number)
        this.#publications.trust(state.held.origin.writer);
      return planned;
    };
    return this.#observe("approve", by, () => this.#operations.add(plan));
  }

  /** Drops the held change `number`. */
  reject(number: number, by: Authorship = {}): Promise<PublishResult> {
    return this.#operations.add((state) => this.#decisions.rejection(number, by, state));
  }

  /** Brings back everything but live data as it was at a number, and pins what that takes away, unless a fuse stops that. */
  rollback(to: number, options: RollbackOptions = {}): Promise<PublishResult> {
    const plan = (state: LedgerState): OperationPlan | Promise<OperationPlan> => {
      this.#publications.forgetLast();
      return this.#decisions.rollback(to, options, state);
    };
    return this.#observe("rollback", options, () => this.#operations.add(plan));
  }

  #observe(
    kind: ObservedOperation["kind"],
    { author, message, reading }: Authorship & Pick<Publication, "reading">,
    run: () => Promise<PublishResult>,
  ): Promise<PublishResult> {
    const { observe } = this.#options;
    if (observe === undefined) return run();
    const isLive: ObservedOperation["isLive"] = ({ number, revision }) => this.stableChangeOf(revision) !== number;
    return observe({ kind, author, message, reading, isLive }, run);
  }

  /** Applies what the store has now. Returns why that cannot be read, or is not applied. */
  async catchUp(): Promise<string | undefined> {
    await this.#operations.add(() => unchanged);
    return this.#status.away ?? this.#status.unapplied;
  }

  /** Puts in force what the store has, although it is no successor of what is. Returns why it cannot be read. */
  async adopt(): Promise<string | undefined> {
    this.#status.adopt();
    const unreadable = await this.catchUp();
    // The number to wait for may be a smaller one now.
    this.#waiting.abort();
    return unreadable;
  }

  /** Resolves when everything that was begun is recorded and in force, and the store is closed. */
  async close(): Promise<void> {
    this.#operations.close();
    this.#emptied.close();
    this.#closing.abort();
    this.#waiting.abort();
    await this.#following;
    await this.#operations.settled();
    await this.#compactor.settled();
    await this.#options.store.close();
  }

  /** Puts in force what other processes append, as they do. */
  async #follow(): Promise<void> {
    const { store } = this.#options;
    const { signal } = this.#closing;
    const stopListening = store.onOutage?.(() => void this.catchUp());
    while (!signal.aborted) {
      this.#waiting = new AbortController();
      await store.whenPast(this.#reader.head.number, this.#waiting.signal);
      if (signal.aborted) break;
      const unreadable = await this.catchUp();
      if (unreadable !== undefined)
        await delay(READ_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    stopListening?.();
  }

  /** Plans operations one upon the other, records them together, and puts them in force. */
  async #take(given: readonly Operation[]): Promise<void> {
    let operations = given;
    for (let conflicts = 0; ; conflicts++) {
      await this.#status.read();
      if (this.#status.away !== undefined) {
        await this.#flow(operations, this.#status.away);
        return;
      }
      const group = await this.#plan(operations);
      const { records, bodies, lease } = group;
      const unrecorded = records.length === 0 ? undefined : await this.#store(records, bodies, lease);
      if (this.#isWorthAgain(unrecorded) && conflicts < MOST_CONFLICTS) {
        operations = group.planned.map(({ operation }) => operation);
        continue;
      }
      if (unrecorded === undefined) this.#emptied.follow(this.#reader.state);
      await this.#finish(group.planned, unrecorded);
      this.#tellInForce();
      this.#publications.begin();
      await this.#deleteDue();
      return;
    }
  }

  /** What is in force is copied as long as the store continues it. */
  #tellInForce(): void {
    if (this.#reader.stop === undefined) this.#options.store.putInForce?.(this.#reader.head);
  }

  /** While the engine is away nothing is recorded, and only live data is sent. */
  async #flow(operations: readonly Operation[], reason: string): Promise<void> {
    for (const { live, settle, fail } of operations) {
      try {
        if (live !== undefined) await this.#inForce.putUnrecorded(await live());
        settle({ kind: "unavailable", reason });
      } catch (cause) {
        fail(cause);
      }
    }
  }

  /** Whether another process was first, so that the same can be asked again upon what it wrote. */
  #isWorthAgain(unrecorded: Unrecorded | undefined): boolean {
    return unrecorded?.kind === "raced" && this.#options.store.refresh !== undefined;
  }

  async #plan(operations: readonly Operation[]): Promise<PlannedGroup> {
    this.#publications.begin();
    const { unapplied } = this.#status;
    const group: PlannedGroup = { planned: [], records: [], bodies: new Map(), lease: undefined };
    for (const operation of operations) {
      try {
        const plan = unapplied === undefined ? await operation.plan(this.#reader.state) : refuse(unapplied);
        const own: LedgerRecord[] = [];
        for (const record of plan.records) own.push(await this.#fold(record, group.records));
        await this.#entries.addBodies(plan.resources, group.bodies);
        if (own.length > 0) group.lease ??= plan.lease;
        group.planned.push({ operation, plan, records: own });
      } catch (cause) {
        this.#publications.forgetLast();
        operation.fail(cause);
      }
    }
    return group;
  }

  async #finish(planned: PlannedGroup["planned"], unrecorded: Unrecorded | undefined): Promise<void> {
    // What was planned upon a change that is not recorded is not true either.
    let isLost = false;
    let live: PlannedOperation[] = [];
    const { held } = unrecorded === undefined ? this.#reader.state : this.#inForce;
    for (const one of planned) {
      isLost ||= one.records.length > 0;
      if (unrecorded === undefined && isLive(one)) {
        live.push(one);
        continue;
      }
      await this.#performer.performLive(live, held);
      live = [];
      if (unrecorded === undefined || !isLost) await this.#performer.perform(one, held);
      else if (unrecorded.kind === "away")
        await this.#flow([{ ...one.operation, live: one.plan.live ?? (() => noResourceChanges) }], unrecorded.reason);
      else one.operation.settle({ kind: "refused", reason: unrecorded.reason });
    }
    await this.#performer.performLive(live, held);
  }

  /** Numbers a record and takes it into the state. */
  async #fold(record: NewRecord, into: LedgerRecord[]): Promise<LedgerRecord> {
    const numbered = { ...record, number: this.#reader.state.number + 1, time: Date.now() } as LedgerRecord;
    await this.#reader.fold(numbered);
    into.push(numbered);
    return numbered;
  }

  /** Appends the records; returns why they are not, and then the state is again what the store has. */
  async #store(
    records: readonly LedgerRecord[],
    bodies: ReadonlyMap<string, Uint8Array>,
    lease: HeldLease | undefined,
  ): Promise<Unrecorded | undefined> {
    const { store, onProblem } = this.#options;
    const texts: string[] = [];
    for (const record of records) texts.push(await stringify(record, this.#slices));
    const appended = await store.append(this.#reader.head, { records: texts, bodies, lease });
    if (appended.kind === "appended") {
      this.#reader.appended(appended.head);
      for (const record of records) this.#compactor.count(record);
      await this.#compactor.compactIfDue(this.#reader.state, this.#slices);
      return undefined;
    }
    const isShared = store.refresh !== undefined;
    const kind = appended.kind !== "unavailable" ? "raced" : isShared ? "away" : "failed";
    const unrecorded = { kind, reason: whyNot(appended) } as const;
    // Several processes may write: that another was first is no problem.
    if (kind !== "raced" || !isShared) onProblem(unrecorded.reason);
    else await store.refresh?.().catch(() => undefined);
    this.#publications.forgetLast();
    this.#reader.notAppended();
    if (kind === "failed") await this.#status.read();
    return unrecorded;
  }

  /** What another process wrote is in force. */
  #takeNote(record: LedgerRecord, changes: readonly EntryChange[]): void {
    this.#publications.forgetLast();
    this.#compactor.count(record);
    this.#noteDecision(record);
    // What this process has of the same source may be older.
    if ("origin" in record) this.#publications.distrust(record.origin.writer);
    this.#options.onRecorded(record, changes);
  }

  async #resume(state: LedgerState): Promise<void> {
    const changes: EntryChange[] = [];
    for (const { layer, type, name, entry } of state.entries())
      changes.push({ layer, type, name, before: undefined, after: entry });
    const resources = await this.#content.of(changes);
    const [any, stable] = [await this.#newest(state.number, isInForce), await this.#newest(state.number, isChange)];
    const missing = await this.#inForce.resume(state, { changes, resources }, { any, stable });
    this.#options.onResumed({ number: state.number, resources: resources.size, missing });
  }

  async #newest(head: number, isWanted: (record: LedgerRecord) => boolean): Promise<number | undefined> {
    const [newest] = await this.history.newest({ before: head + 1, limit: 1, isWanted });
    return newest?.number;
  }

  async #planPublication(publication: Publication, state: LedgerState): Promise<OperationPlan> {
    const allowed = this.#options.mayPublish?.() ?? true;
    if (allowed === false) return { ...refuse(""), result: () => ({ kind: "standby", reason: STANDBY }) };
    const plan = await this.#publications.plan(publication, state);
    const followed = publication.layers === undefined ? plan : this.#followSource(publication, plan);
    return allowed === true ? followed : { ...followed, lease: allowed };
  }

  #followSource(source: Publication, plan: OperationPlan): OperationPlan {
    this.#source = source;
    return {
      ...plan,
      result: (number, revision) => {
        const result = plan.result(number, revision);
        if (result.kind === "applied" || result.kind === "unchanged") this.#sourceInForce = source;
        return result;
      },
    };
  }

  /** A record that is not of live data: what is in force may be something else than what the source has. */
  #noteDecision({ kind }: LedgerRecord): void {
    if (kind === "live") return;
    this.#decisionCount++;
    this.#sourceInForce = undefined;
  }

  /** Deletes what waited, where nothing refers to it any more. */
  async #deleteDue(): Promise<void> {
    const due = await this.#publications.takeDueDeletions(this.#reader.state);
    for (const publication of due) void this.publish(publication).catch(() => undefined);
  }
}

function whyNot(result: Exclude<AppendResult, { readonly kind: "appended" }>): string {
  if (result.kind === "unavailable") return result.reason;
  return result.kind === "conflict" ? "another process wrote to the ledger" : "another process publishes now";
}
