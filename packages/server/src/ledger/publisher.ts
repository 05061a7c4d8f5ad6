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
import type { MissingContent } from "../hub/missing-resources.ts";
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
import { OperationPerformer } from "./operation-performer.ts";
import { type OperationPlan, refuse, unchanged } from "./operation-plan.ts";
import { type Operation, OperationQueue } from "./operation-queue.ts";
import { OperationRecorder } from "./operation-recorder.ts";
import { PastClusters } from "./past-clusters.ts";
import type { ChangePlan, PlannedEntries } from "./plan.ts";
import type {
  Authorship,
  Decision,
  Publication,
  PublishResult,
  RollbackOptions,
  WaitingDeletion,
} from "./publication.ts";
import { PublicationPlanner } from "./publication-planner.ts";
import { PublishedSource } from "./published-source.ts";
import { type ReadLedger, readLedger, readLedgerUpTo } from "./reading.ts";
import { Compactor, type Retention } from "./retention.ts";
import type { LedgerStore } from "./store.ts";
import { StoreFollower } from "./store-follower.ts";
import { StoreStatus } from "./store-status.ts";

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
  readonly #recorder: OperationRecorder;
  readonly #performer: OperationPerformer;
  readonly #publications: PublicationPlanner;
  readonly #decisions: DecisionPlanner;
  readonly #status: StoreStatus;
  readonly #emptied: HeldEndpoints;
  readonly #follower: StoreFollower;
  readonly #source: PublishedSource;

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
        this.#source.note(record);
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
    this.#recorder = new OperationRecorder({
      ...planning,
      ...{ status: this.#status, reader: this.#reader, compactor },
      ...{ entries: this.#entries, publications: this.#publications },
    });
    this.#follower = new StoreFollower({
      store,
      readTo: () => this.#reader.head.number,
      catchUp: () => this.catchUp(),
    });
    this.#source = new PublishedSource({
      ...{ inForce: this.#inForce, history: this.history },
      preview: (source) => this.#preview(source),
      look: (look) => this.#operations.look(look),
    });
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
    if (isShared) publisher.#follower.start();
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
    return await this.#source.difference();
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
    return await this.#operations.look(() => this.#preview(given));
  }

  async #preview(given: Publication): Promise<ChangePlan> {
    const plan = await this.#publications.preview(given, this.#reader.state);
    this.#entries.forgetBodies();
    return plan;
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
    this.#follower.waitAnew();
    return unreadable;
  }

  /** Resolves when everything that was begun is recorded and in force, and the store is closed. */
  async close(): Promise<void> {
    this.#operations.close();
    await this.#follower.close();
    await this.#operations.settled();
    // What was under way may have held endpoints back.
    this.#emptied.close();
    await this.#compactor.settled();
    await this.#options.store.close();
  }

  /** Plans operations one upon the other, records them together, and puts them in force. */
  async #take(operations: readonly Operation[]): Promise<void> {
    const group = await this.#recorder.record(operations);
    if (group.kind === "away") {
      await this.#performer.flow(group.operations, group.reason);
      return;
    }
    const { planned, unrecorded } = group;
    const { state } = this.#reader;
    if (unrecorded === undefined) this.#emptied.follow(state);
    await this.#performer.performAll(planned, unrecorded, state.held);
    this.#tellInForce();
    this.#publications.begin();
    await this.#deleteDue();
  }

  /** What is in force is copied as long as the store continues it. */
  #tellInForce(): void {
    if (this.#reader.stop === undefined) this.#options.store.putInForce?.(this.#reader.head);
  }

  /** What another process wrote is in force. */
  #takeNote(record: LedgerRecord, changes: readonly EntryChange[]): void {
    this.#publications.forgetLast();
    this.#compactor.count(record);
    this.#source.note(record);
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
    if (allowed === false) {
      if (publication.layers !== undefined) this.#source.standBy(publication);
      return { ...refuse(""), result: () => ({ kind: "standby", reason: STANDBY }) };
    }
    const plan = await this.#publications.plan(publication, state);
    const followed = publication.layers === undefined ? plan : this.#source.follow(publication, plan);
    return allowed === true ? followed : { ...followed, lease: allowed };
  }

  /** Deletes what waited, where nothing refers to it any more. */
  async #deleteDue(): Promise<void> {
    const due = await this.#publications.takeDueDeletions(this.#reader.state);
    for (const publication of due) void this.publish(publication).catch(() => undefined);
  }
}
