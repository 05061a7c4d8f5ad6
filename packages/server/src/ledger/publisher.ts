import { setTimeout as delay } from "node:timers/promises";
import { messageNameOf, type Resource, type TypeUrl } from "@xdskit/protocol";
import {
  type Digest,
  type EntryChange,
  type EntryPlace,
  type FuseTrip,
  type HeldRecord,
  type LedgerEffect,
  type LedgerRecord,
  type LedgerState,
  type Placement,
  placeKey,
  type Reversal,
  reverseTo,
  splitLive,
  type TypeKind,
} from "@xdskit/protocol/internal";
import { layerChangesBetween } from "@xdskit/source/checks";
import { affectedNodes, type SubscribedNode } from "./affected-nodes.ts";
import { EntryMaker, type ResourceChanges } from "./entries.ts";
import { isChange, LedgerHistory } from "./history.ts";
import { type InForceChange, type PublishTarget, StateInForce } from "./in-force.ts";
import { type Judged, type Judgement, judgePublication, sameChange } from "./judgement.ts";
import type { HeldLease } from "./lease.ts";
import { LedgerReader, type ReaderStop } from "./ledger-reader.ts";
import { type ChangePlan, type PlannedEntries, resultOf } from "./plan.ts";
import type {
  Authorship,
  Decision,
  MissingContent,
  Publication,
  PublishResult,
  WaitingDeletion,
} from "./publication.ts";
import { type ReadLedger, readLedger, readLedgerUpTo, resourcesOf } from "./reading.ts";
import type { PlacedResource } from "./references.ts";
import { Compactor, type Retention, recordsOf } from "./retention.ts";
import type { AppendResult, LedgerStore } from "./store.ts";
import { isNeeded, WaitingDeletions } from "./waiting-deletions.ts";

/** Most operations that one append takes. */
const LARGEST_GROUP = 256;
/** How often operations are planned again because another process was first. */
const MOST_CONFLICTS = 20;
/** After how long a store that cannot be read is read again, in milliseconds. */
const READ_AGAIN_MS = 1_000;

export interface PublisherOptions {
  readonly store: LedgerStore;
  readonly retention: Retention;
  readonly digest: Digest;
  readonly holdsSecret: (resource: Resource) => boolean;
  readonly kindOf: (type: TypeUrl) => TypeKind;
  /** Which fuses a change trips. */
  readonly judge: (change: LedgerEffect, state: LedgerState) => readonly FuseTrip[];
  /** The connected nodes before a change and after it. */
  readonly nodesBy: (change: LedgerEffect, state: LedgerState) => Iterable<SubscribedNode>;
  readonly target: PublishTarget;
  /**
   * Whether this process may publish now; a lease: while it is held. Decisions need none.
   * @default always
   */
  readonly mayPublish?: () => HeldLease | boolean;
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

/** A publication that a fuse stops. */
interface HeldChange {
  readonly state: LedgerState;
  readonly made: ResourceChanges;
  readonly change: LedgerEffect;
  readonly trips: readonly FuseTrip[];
  readonly restored: ResourceChanges;
}

/** What a decision puts in force. */
interface Prepared {
  readonly kind: "prepared";
  readonly made: ResourceChanges;
  readonly placement: Placement | undefined;
  readonly irretrievable: readonly MissingContent[];
}

interface Refused {
  readonly kind: "refused";
  readonly reason: string;
}

/** A record without what the ledger gives it. */
type NewRecord = LedgerRecord extends infer R ? (R extends LedgerRecord ? Omit<R, "number" | "time"> : never) : never;

/** What an operation wants to record, and what comes in force by it. */
interface Plan {
  readonly records: readonly NewRecord[];
  readonly resources: Iterable<Resource>;
  readonly effect?: { readonly changes: ResourceChanges; readonly placement: Placement | undefined };
  /** What of it is sent although it cannot be recorded. */
  readonly live?: ResourceChanges;
  /** Nothing is recorded unless it is still held then. */
  readonly lease?: HeldLease;
  /** The result, given the number of its last record and the revision. */
  readonly result: (number: number, revision: number) => PublishResult;
}

/** Operations that are recorded together. */
interface PlannedGroup {
  readonly planned: { readonly operation: Operation; readonly plan: Plan; readonly records: readonly LedgerRecord[] }[];
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

interface Operation {
  readonly plan: (state: LedgerState) => Plan | Promise<Plan>;
  /** What of it is sent although it cannot be recorded. */
  readonly live?: (() => ResourceChanges) | undefined;
  readonly settle: (result: PublishResult) => void;
  readonly fail: (cause: unknown) => void;
}

/**
 * The ledger of a server: records every change of the published state, durably, before it is in force. Operations take
 * effect one after the other; those that wait during an append go into the next one together.
 */
export class Publisher {
  /** What was recorded. */
  readonly history: LedgerHistory;
  readonly #options: PublisherOptions;
  readonly #entries: EntryMaker;
  readonly #compactor: Compactor;
  readonly #queue: Operation[] = [];
  readonly #inForce: StateInForce;
  readonly #reader: LedgerReader;
  /** The layers that a source published last, if they are what is in force. */
  #lastLayers: ReadonlyMap<string, readonly Resource[]> | undefined;
  /** The resources of the held change by place, while they are at hand. */
  #heldResources: { readonly number: number; readonly resources: ReadonlyMap<string, Resource> } | undefined;
  readonly #waiting = new WaitingDeletions();
  /** What the operations of this append change. */
  #planned: ResourceChanges[] = [];
  #running: Promise<void> | undefined;
  /** The writers that published since the start. */
  readonly #known = new Set<string>();
  #told: ReaderStop | undefined;
  readonly #closing = new AbortController();
  #following: Promise<void> | undefined;
  #isClosed = false;
  /** Why the engine of the store cannot be asked. */
  #away: string | undefined;
  /** Why nothing of the store is applied. */
  #unapplied: string | undefined;
  #mustAdopt = false;

  private constructor(options: PublisherOptions, read: ReadLedger, compactor: Compactor) {
    const { store, digest, target } = options;
    this.history = new LedgerHistory(store);
    this.#options = options;
    this.#entries = new EntryMaker(options);
    this.#compactor = compactor;
    this.#inForce = new StateInForce(target, options.kindOf);
    const onRead = (record: LedgerRecord, changes: readonly EntryChange[]): void => this.#takeNote(record, changes);
    this.#reader = new LedgerReader({ store, digest, inForce: this.#inForce, onRead }, read);
  }

  /** Reads the ledger and puts in force what was; the server serves it from then on. */
  static async open(options: PublisherOptions): Promise<Publisher> {
    const compactor = new Compactor(options);
    // A follower serves what comes before a record that it does not know.
    const readStore = options.store.refresh === undefined ? readLedger : readLedgerUpTo;
    const read: ReadLedger = await readStore(options.store, (record) => compactor.count(record));
    const publisher = new Publisher(options, read, compactor);
    if (read.state.number > 0) await publisher.#resume(read.state);
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

  /** Resolves when a record is in force, or the signal aborts. */
  whenInForce(number: number, signal: AbortSignal): Promise<void> {
    return this.#inForce.whenReached(number, signal);
  }

  /** Live data that is deleted once nothing refers to it. */
  get waiting(): readonly WaitingDeletion[] {
    return this.#waiting.places;
  }

  /** What this process has seen of the store. */
  get store(): Pick<LedgerStore, "head" | "outage" | "refresh"> {
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

  publish(publication: Publication): Promise<PublishResult> {
    return this.#enqueue(
      (state) => this.#planPublication(publication, state),
      () => this.#liveOf(publication),
    );
  }

  /** What `publish` would do now. Records nothing, and nothing comes in force. */
  async plan(given: Publication, entries: PlannedEntries = []): Promise<ChangePlan> {
    await this.catchUp();
    for (const [resource, entry] of entries) this.#entries.know(resource, entry);
    const publication = this.#entries.withDigest(given);
    const staleness = await this.#stalenessOf(publication);
    const { state } = this.#reader;
    const made = this.#changesTo(publication, state);
    const isReferredTo = await this.#referredTo(publication, made, state);
    const judgement = this.#judge({ publication, state, made, staleness, isReferredTo });
    const { placement, problem, trips } = judgement;
    return {
      ...{ head: this.number, result: resultOf(judgement), reason: problem, trips, irretrievable: [] },
      ...this.#planChanges({ changes: made, placement }, state),
    };
  }

  /** What a decision would do if it were made now. Records nothing. */
  async planDecision(decision: Decision, number: number): Promise<ChangePlan> {
    const { state } = this.#reader;
    const prepared = await this.#prepare(decision, number, state);
    const isRefused = prepared.kind === "refused";
    const { made, placement, irretrievable } = isRefused ? nothingPrepared : prepared;
    const isEmpty = made.changes.length === 0 && placement === undefined;
    return {
      head: this.number,
      result: isRefused ? "refused" : isEmpty ? "unchanged" : "applied",
      reason: isRefused ? prepared.reason : undefined,
      trips: decision === "rollback" || state.held?.number !== number ? [] : state.held.trips,
      irretrievable,
      ...this.#planChanges({ changes: made, placement }, state),
    };
  }

  #planChanges(
    { changes: { changes }, placement }: InForceChange,
    state: LedgerState,
  ): Pick<ChangePlan, "changes" | "isPlaced" | "nodes"> {
    const effect = { changes, ...(placement !== undefined && { placement }) };
    return { changes, isPlaced: placement !== undefined, nodes: affectedNodes(effect, state, this.#options) };
  }

  #judge(judged: Judged): Judgement {
    const { kindOf, judge } = this.#options;
    return judgePublication(judged, { kindOf, judge, check: (change) => this.#inForce.check(change) });
  }

  /** Puts the held change `number` in force. */
  approve(number: number, by: Authorship = {}): Promise<PublishResult> {
    return this.#enqueue(async (state) => {
      const prepared = await this.#prepareApproval(number, state);
      if (prepared.kind === "refused") return refuse(prepared.reason);
      this.#lastLayers = undefined;
      this.#known.add(prepared.held.origin.writer);
      return {
        records: [{ kind: "approved", of: number, ...authorOf(by) }],
        resources: [],
        effect: { changes: prepared.made, placement: prepared.placement },
        result: applied,
      };
    });
  }

  /** Drops the held change `number`. */
  reject(number: number, by: Authorship = {}): Promise<PublishResult> {
    return this.#enqueue((state) => {
      if (state.held?.number !== number) return refuse(notHeld(number, state.held));
      return { records: [{ kind: "rejected", of: number, ...authorOf(by) }], resources: [], result: applied };
    });
  }

  /** Brings back everything but live data as it was at a number, and pins what that takes away. */
  rollback(to: number, by: Authorship = {}): Promise<PublishResult> {
    return this.#enqueue(async (state) => {
      const prepared = await this.#prepareRollback(to, state);
      if (prepared.kind === "refused") return refuse(prepared.reason);
      const { made, placement, irretrievable, pins } = prepared;
      const { changes, resources } = made;
      this.#lastLayers = undefined;
      if (changes.length === 0 && placement === undefined) return unchanged;
      const reversed = { changes, pins, ...(placement !== undefined && { placement }) };
      return {
        records: [{ kind: "rolled-back", to, ...reversed, ...authorOf(by) }],
        // The record from which a body comes may be let go of meanwhile.
        resources: resources.values(),
        effect: { changes: made, placement },
        result: (number, revision) => ({
          ...applied(number, revision),
          ...(irretrievable.length > 0 && { irretrievable }),
        }),
      };
    });
  }

  /** Applies what the store has now. Returns why that cannot be read, or is not applied. */
  async catchUp(): Promise<string | undefined> {
    await this.#enqueue(() => unchanged);
    return this.#away ?? this.#unapplied;
  }

  /** Puts in force what the store has, although it is no successor of what is. Returns why it cannot be read. */
  async adopt(): Promise<string | undefined> {
    this.#mustAdopt = true;
    return await this.catchUp();
  }

  async #prepare(decision: Decision, number: number, state: LedgerState): Promise<Prepared | Refused> {
    if (decision === "approve") return await this.#prepareApproval(number, state);
    if (decision === "rollback") return await this.#prepareRollback(number, state);
    if (state.held?.number !== number) return refused(notHeld(number, state.held));
    return nothingPrepared;
  }

  async #prepareApproval(
    number: number,
    { held }: LedgerState,
  ): Promise<(Prepared & { readonly held: HeldRecord }) | Refused> {
    if (held?.number !== number) return refused(notHeld(number, held));
    const { changes, placement } = held;
    const resources = new Map(await this.#bodiesOf(changes));
    const atHand = this.#heldResources?.number === number ? this.#heldResources.resources : undefined;
    for (const change of changes) {
      const resource = atHand?.get(placeKey(change));
      if (change.after !== undefined && resource !== undefined) resources.set(change, resource);
    }
    const made = { changes, resources };
    const problem = lostIn(changes, resources) ?? this.#problemWith(made, placement);
    if (problem !== undefined) return refused(problem);
    return { kind: "prepared", made, placement, irretrievable: [], held };
  }

  async #prepareRollback(to: number, state: LedgerState): Promise<(Prepared & Pick<Reversal, "pins">) | Refused> {
    const { store, kindOf } = this.#options;
    const records: LedgerRecord[] = [];
    for await (const record of recordsOf(store)) if (record.kind !== "live") records.push(record);
    const reversal = reverseTo(state, { to, records, completeAfter: store.completeAfter, kindOf });
    if (reversal.kind === "refused") return refused(reversal.reason);
    const { changes, pins, placement, irretrievable } = reversal;
    const resources = await this.#bodiesOf(changes);
    const made = { changes, resources };
    const isEmpty = changes.length === 0 && placement === undefined;
    if (isEmpty && irretrievable.length > 0) return refused(`${to} had only what holds a secret, which is not kept`);
    const problem = lostIn(changes, resources) ?? (isEmpty ? undefined : this.#problemWith(made, placement));
    return problem === undefined ? { kind: "prepared", made, placement, pins, irretrievable } : refused(problem);
  }

  #problemWith(made: ResourceChanges, placement: Placement | undefined): string | undefined {
    return this.#inForce.check({ changes: made, placement });
  }

  /** Resolves when everything that was begun is recorded and in force, and the store is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort();
    await this.#following;
    await this.#running;
    await this.#compactor.settled();
    await this.#options.store.close();
  }

  /** Puts in force what other processes append, as they do. */
  async #follow(): Promise<void> {
    const { store } = this.#options;
    const { signal } = this.#closing;
    const stopListening = store.onOutage?.(() => void this.catchUp());
    while (!signal.aborted) {
      await store.whenPast(this.#reader.head.number, signal);
      if (signal.aborted) break;
      const unreadable = await this.catchUp();
      if (unreadable !== undefined)
        await delay(READ_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    stopListening?.();
  }

  #enqueue(plan: Operation["plan"], live?: Operation["live"]): Promise<PublishResult> {
    return new Promise((settle, fail) => {
      if (this.#isClosed) {
        settle({ kind: "refused", reason: "the server is closed" });
        return;
      }
      this.#queue.push({ plan, live, settle, fail });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    // Operations of the same turn go together.
    await Promise.resolve();
    while (this.#queue.length > 0) await this.#take(this.#queue.splice(0, LARGEST_GROUP));
    this.#running = undefined;
  }

  /** Plans operations one upon the other, records them together, and puts them in force. */
  async #take(given: readonly Operation[]): Promise<void> {
    let operations = given;
    for (let conflicts = 0; ; conflicts++) {
      await this.#readOthers();
      if (this.#away !== undefined) {
        this.#flow(operations, this.#away);
        return;
      }
      const group = await this.#plan(operations);
      const { records, bodies, lease } = group;
      const unrecorded = records.length === 0 ? undefined : await this.#store(records, bodies, lease);
      if (this.#isWorthAgain(unrecorded) && conflicts < MOST_CONFLICTS) {
        operations = group.planned.map(({ operation }) => operation);
        continue;
      }
      this.#finish(group.planned, unrecorded);
      if (unrecorded === undefined) this.#inForce.setHeld(this.#reader.state.held);
      this.#planned = [];
      await this.#deleteDue();
      return;
    }
  }

  /** While the engine is away nothing is recorded, and only live data is sent. */
  #flow(operations: readonly Operation[], reason: string): void {
    for (const { live, settle, fail } of operations) {
      try {
        if (live !== undefined) this.#inForce.putUnrecorded(live());
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
    this.#planned = [];
    const group: PlannedGroup = { planned: [], records: [], bodies: new Map(), lease: undefined };
    for (const operation of operations) {
      try {
        const plan = this.#unapplied === undefined ? await operation.plan(this.#reader.state) : refuse(this.#unapplied);
        const own = plan.records.map((record) => this.#fold(record, group.records));
        for (const [id, bytes] of this.#entries.bodiesOf(plan.resources)) group.bodies.set(id, bytes);
        if (own.length > 0) group.lease ??= plan.lease;
        group.planned.push({ operation, plan, records: own });
      } catch (cause) {
        this.#lastLayers = undefined;
        operation.fail(cause);
      }
    }
    return group;
  }

  #finish(planned: PlannedGroup["planned"], unrecorded: Unrecorded | undefined): void {
    // What was planned upon a change that is not recorded is not true either.
    let isLost = false;
    for (const { operation, plan, records } of planned) {
      isLost ||= records.length > 0;
      if (unrecorded === undefined || !isLost) this.#perform(operation, plan, records);
      else if (unrecorded.kind === "away")
        this.#flow([{ ...operation, live: () => plan.live ?? none }], unrecorded.reason);
      else operation.settle({ kind: "refused", reason: unrecorded.reason });
    }
  }

  /** Numbers a record and takes it into the state. */
  #fold(record: NewRecord, into: LedgerRecord[]): LedgerRecord {
    const numbered = { ...record, number: this.#reader.state.number + 1, time: Date.now() } as LedgerRecord;
    this.#reader.fold(numbered);
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
    const appended = await store.append(this.#reader.head, {
      records: records.map((record) => JSON.stringify(record)),
      bodies,
      lease,
    });
    if (appended.kind === "appended") {
      this.#reader.appended(appended.head);
      for (const record of records) this.#compactor.count(record);
      this.#compactor.compactIfDue(this.#reader.state);
      return undefined;
    }
    const isShared = store.refresh !== undefined;
    const kind = appended.kind !== "unavailable" ? "raced" : isShared ? "away" : "failed";
    const unrecorded = { kind, reason: whyNot(appended) } as const;
    // Several processes may write: that another was first is no problem.
    if (kind !== "raced" || !isShared) onProblem(unrecorded.reason);
    else await store.refresh?.().catch(() => undefined);
    this.#lastLayers = undefined;
    this.#reader.notAppended();
    if (kind === "failed") await this.#readOthers();
    return unrecorded;
  }

  /** Reads what is durable, and notes why that cannot be read, or must not be applied. */
  async #readOthers(): Promise<void> {
    const { store, onProblem } = this.#options;
    this.#away = store.outage?.reason;
    if (this.#away !== undefined) return;
    try {
      if (this.#mustAdopt) await this.#reader.adopt();
      else await this.#reader.catchUp();
      this.#mustAdopt = false;
      if (this.#options.mayPublish?.() === false) await this.#dropUnrecorded();
    } catch (cause) {
      const reason = `the ledger cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
      onProblem(reason);
      if (store.refresh === undefined) this.#unapplied = reason;
      else this.#away = reason;
      return;
    }
    const { stop } = this.#reader;
    this.#unapplied = stop && describeStop(stop);
    if (stop !== undefined && stop !== this.#told) onProblem(describeStop(stop));
    this.#told = stop;
  }

  /** What flowed while the engine was away gives way to what is recorded, where another process publishes. */
  async #dropUnrecorded(): Promise<void> {
    const changes = this.#inForce.unrecorded.map((place): EntryChange => {
      const entry = this.#reader.state.entry(place);
      return { ...place, before: entry, after: entry };
    });
    if (changes.length === 0) return;
    this.#inForce.put({ changes: { changes, resources: await this.#bodiesOf(changes) }, placement: undefined });
  }

  /** What another process wrote is in force. */
  #takeNote(record: LedgerRecord, changes: readonly EntryChange[]): void {
    this.#lastLayers = undefined;
    this.#compactor.count(record);
    // What this process has of the same source may be older.
    if ("origin" in record) this.#known.delete(record.origin.writer);
    this.#options.onRecorded(record, changes);
  }

  #perform({ settle, fail }: Operation, { effect, result }: Plan, records: readonly LedgerRecord[]): void {
    const { onRecorded, onProblem } = this.#options;
    try {
      const revision = effect === undefined ? this.#inForce.revision : this.#inForce.put(effect);
      for (const record of records) {
        this.#inForce.reached(record.number - 1, record.number, revision);
        const approved = record.kind === "approved" ? (effect?.changes.changes ?? []) : [];
        onRecorded(record, "changes" in record ? record.changes : approved);
      }
      const made = records.findLast(({ kind }) => kind !== "held" && kind !== "rejected" && kind !== "unpinned");
      const stable = records.findLast(isChange);
      if (effect !== undefined && made !== undefined) this.#inForce.changed(made.number, revision, stable?.number);
      settle(result(records.at(-1)?.number ?? this.number, revision));
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      if (records.length > 0) onProblem(`what is recorded cannot be put in force: ${why}`);
      fail(cause);
    }
  }

  async #resume(state: LedgerState): Promise<void> {
    const changes: EntryChange[] = [];
    for (const { layer, type, name, entry } of state.entries())
      changes.push({ layer, type, name, before: undefined, after: entry });
    const resources = await this.#bodiesOf(changes);
    const change = await this.#newestChange(state.number);
    const missing = this.#inForce.resume(state, { changes, resources }, change);
    this.#options.onResumed({ number: state.number, resources: resources.size, missing });
  }

  /** The newest number by which anything but live data changed. */
  async #newestChange(head: number): Promise<number | undefined> {
    const [newest] = await this.history.newest({ before: head + 1, limit: 1, isWanted: isChange });
    return newest?.number;
  }

  async #planPublication(given: Publication, state: LedgerState): Promise<Plan> {
    const allowed = this.#options.mayPublish?.() ?? true;
    if (allowed === false) return { ...refuse(""), result: () => ({ kind: "standby", reason: STANDBY }) };
    const publication = this.#entries.withDigest(given);
    const plan = await this.#planAllowed(publication, state);
    return allowed === true ? plan : { ...plan, lease: allowed };
  }

  async #planAllowed(publication: Publication, state: LedgerState): Promise<Plan> {
    const staleness = await this.#stalenessOf(publication);
    if (publication.layers !== undefined && staleness.length === 0) this.#known.add(publication.origin.writer);
    const made = this.#changesOf(publication, state);
    const isReferredTo = await this.#referredTo(publication, made, state);
    const judgement = this.#judge({ publication, state, made, staleness, isReferredTo });
    const { placement, problem, live, waiting, change, isStable, trips } = judgement;
    const restored = this.#restoredBy(publication, made);
    if (publication.layers !== undefined) this.#lastLayers = publication.layers;
    // Of what waits nothing is in force, so it is a difference again next time.
    if (waiting.length > 0) this.#lastLayers = undefined;
    if (problem === undefined) this.#waiting.note(publication, made.changes, this.#waitingFor(judgement));
    if (made.changes.length === waiting.length && placement === undefined)
      return this.#planNothing(publication, state, restored, waiting);
    if (problem !== undefined) {
      this.#lastLayers = undefined;
      return refuse(problem);
    }
    if (trips.length > 0) return this.#planHeld(publication, { state, made, change, trips, restored });
    const common = { origin: publication.origin, ...authorOf(publication) };
    const records: NewRecord[] = [];
    if (live.length > 0) records.push({ kind: "live", changes: live, ...common });
    if (isStable) records.push({ kind: "revision", ...change, ...common });
    else if (isDroppedBy(publication, state.held)) records.push(rejection(state.held, publication));
    const inForce = waiting.length === 0 ? made : { changes: [...live, ...change.changes], resources: made.resources };
    if (isStable) this.#planned.push(inForce);
    const effect = { changes: join(inForce, restored), placement };
    return {
      records,
      resources: made.resources.values(),
      effect,
      live: this.#withoutDeletions(effect.changes),
      result: (number, revision) => ({ ...applied(number, revision), ...waitingIn(waiting) }),
    };
  }

  /** What of a publication is sent without being recorded: live data, but no deletion. */
  #liveOf(publication: Publication): ResourceChanges {
    this.#lastLayers = undefined;
    const made = this.#changesTo(publication, this.#reader.state);
    return this.#withoutDeletions(join(made, this.#restoredBy(publication, made)));
  }

  #withoutDeletions({ changes, resources }: ResourceChanges): ResourceChanges {
    return { changes: splitLive(changes, this.#options.kindOf, () => true).live, resources };
  }

  /** Nothing of a held change is sent; live data flows, but what is deleted with it stays. */
  #planHeld(publication: Publication, { state, made, change, trips, restored }: HeldChange): Plan {
    this.#lastLayers = undefined;
    const common = { origin: publication.origin, ...authorOf(publication) };
    const { live } = splitLive(made.changes, this.#options.kindOf, () => true);
    const records: NewRecord[] = [];
    if (live.length > 0) records.push({ kind: "live", changes: live, ...common });
    const known = state.held !== undefined && sameChange(state.held, change) ? state.held.number : undefined;
    if (known === undefined) records.push({ kind: "held", ...change, trips, ...common });
    const inForce = join({ changes: live, resources: made.resources }, restored);
    return {
      records,
      resources: made.resources.values(),
      ...(inForce.changes.length > 0 && { effect: { changes: inForce, placement: undefined } }),
      live: this.#withoutDeletions(inForce),
      result: (number) => {
        const resources = new Map([...made.resources].map(([one, resource]) => [placeKey(one), resource]));
        this.#heldResources = { number: known ?? number, resources };
        return { kind: "held", number: known ?? number, trips };
      },
    };
  }

  /**
   * What a source has when it is first read after a start may be old: a checkout that was set back, a disk that came
   * back. It is if it was published once, but is not what was published last.
   */
  async #stalenessOf({ layers, origin }: Publication): Promise<readonly FuseTrip[]> {
    if (layers === undefined || this.#known.has(origin.writer)) return [];
    const found = await this.history.publishedAs(origin);
    if (found === undefined) return [];
    const message = `the source has what was published as ${found}, which is not the newest: it may be an old copy`;
    return [{ fuse: "stale-source", message }];
  }

  /** The source has what is in force: what it had before and is held is dropped. */
  #planNothing(
    publication: Publication,
    { held }: LedgerState,
    restored: ResourceChanges,
    waiting: readonly EntryChange[],
  ): Plan {
    return {
      records: isDroppedBy(publication, held) ? [rejection(held, publication)] : [],
      resources: [],
      ...(restored.changes.length > 0 && { effect: { changes: restored, placement: undefined } }),
      result: (number, revision) => ({ kind: "unchanged", number, revision, ...waitingIn(waiting) }),
    };
  }

  /** Whether anything refers to live data after a publication: what it makes, what is in force, and what is held. */
  async #referredTo(
    publication: Publication,
    made: ResourceChanges,
    state: LedgerState,
  ): Promise<(place: EntryPlace) => boolean> {
    const { live } = splitLive(made.changes, this.#options.kindOf, () => false);
    if (live.every(({ after }) => after !== undefined)) return () => false;
    const { references } = this.#inForce;
    const held = isDroppedBy(publication, state.held) ? [] : await this.#heldIn(state);
    return (place) => isNeeded(place, { references, state, planned: [...this.#planned, made], held });
  }

  /** While a change is held, everything that its writer deletes of live data waits for the decision. */
  #waitingFor({ made, waiting, trips }: Judgement): readonly EntryChange[] {
    return trips.length === 0 ? waiting : splitLive(made.changes, this.#options.kindOf, () => true).waiting;
  }

  /** What would come in force with the held change. */
  async #heldIn({ held }: LedgerState): Promise<readonly PlacedResource[]> {
    if (held === undefined) return [];
    const kept = await this.#bodiesOf(held.changes);
    const atHand = this.#heldResources?.number === held.number ? this.#heldResources.resources : undefined;
    return held.changes.flatMap((change) => {
      const resource = atHand?.get(placeKey(change)) ?? kept.get(change);
      return resource === undefined ? [] : [{ layer: change.layer, resource }];
    });
  }

  /** Deletes what waited, where nothing refers to it any more. */
  async #deleteDue(): Promise<void> {
    if (this.#waiting.places.length === 0) return;
    const { state } = this.#reader;
    const { references } = this.#inForce;
    const held = await this.#heldIn(state);
    const due = this.#waiting.takeDue(
      (place, { origin }) =>
        origin.writer === state.held?.origin.writer || isNeeded(place, { references, state, planned: [], held }),
    );
    for (const publication of due) void this.publish(publication).catch(() => undefined);
  }

  #changesOf(publication: Publication, state: LedgerState): ResourceChanges {
    const { layers } = publication;
    const before = this.#lastLayers;
    if (layers === undefined) this.#lastLayers = undefined;
    if (layers === undefined || before === undefined) return this.#changesTo(publication, state);
    return this.#entries.changesBy(layerChangesBetween(before, layers), state);
  }

  #changesTo({ layers, changes = [], origin }: Publication, state: LedgerState): ResourceChanges {
    return layers === undefined
      ? this.#entries.changesBy(changes, state)
      : this.#entries.changesTo(layers, origin.writer, state);
  }

  /**
   * Resources of a publication that are in force already, but whose content was not at hand, or where live data flowed
   * that was not recorded.
   */
  #restoredBy(publication: Publication, made: ResourceChanges): ResourceChanges {
    const unrecorded = new Map(this.#inForce.unrecorded.map((place) => [placeKey(place), place]));
    for (const change of made.changes) unrecorded.delete(placeKey(change));
    if (this.missing.length === 0 && unrecorded.size === 0) return none;
    const resources = new Map<EntryChange, Resource>();
    const { layers, changes = [] } = publication;
    const published = layers ?? changes.map(({ layer, puts = [] }) => [layer, puts] as const);
    for (const [layer, list] of published) {
      for (const resource of list) {
        const { type, name, version } = resource;
        const place = { layer, type, name };
        if (!unrecorded.delete(placeKey(place)) && this.#inForce.missingVersion(place) !== version) continue;
        const entry = this.#entries.entryOf(resource);
        resources.set({ ...place, before: entry, after: entry }, resource);
      }
    }
    const gone = layers === undefined ? [] : [...unrecorded.values()];
    const deleted = gone.map((place): EntryChange => ({ ...place, before: undefined, after: undefined }));
    return { changes: [...resources.keys(), ...deleted], resources };
  }

  async #bodiesOf(changes: readonly EntryChange[]): Promise<ReadonlyMap<EntryChange, Resource>> {
    const { store, digest } = this.#options;
    return resourcesOf(changes, store, digest);
  }
}

/** Whether a whole publication is without the change that its writer had before, and that is held. */
function isDroppedBy({ layers, origin }: Publication, held: HeldRecord | undefined): held is HeldRecord {
  return layers !== undefined && held !== undefined && held.origin.writer === origin.writer;
}

function rejection({ number }: HeldRecord, { message, author }: Publication): NewRecord {
  const why = message ?? "the source has again what is in force";
  return { kind: "rejected", of: number, ...authorOf({ author, message: why }) };
}

const none: ResourceChanges = { changes: [], resources: new Map() };

const nothingPrepared: Prepared = { kind: "prepared", made: none, placement: undefined, irretrievable: [] };

function join(a: ResourceChanges, b: ResourceChanges): ResourceChanges {
  if (b.changes.length === 0) return a;
  return { changes: [...a.changes, ...b.changes], resources: new Map([...a.resources, ...b.resources]) };
}

function applied(number: number, revision: number): PublishResult {
  return { kind: "applied", number, revision };
}

function waitingIn(changes: readonly EntryChange[]): { readonly waiting?: readonly WaitingDeletion[] } {
  if (changes.length === 0) return {};
  return { waiting: changes.map(({ layer, type, name }) => ({ layer, type, name })) };
}

const unchanged: Plan = {
  records: [],
  resources: [],
  result: (number, revision) => ({ kind: "unchanged", number, revision }),
};

/** Why changes cannot be put in force without the content of one of their resources. */
function lostIn(changes: readonly EntryChange[], resources: ReadonlyMap<EntryChange, Resource>): string | undefined {
  const lost = changes.find((change) => change.after !== undefined && !resources.has(change));
  return lost && `the content of ${messageNameOf(lost.type)} "${lost.name}" is not kept: publish it again`;
}

function whyNot(result: Exclude<AppendResult, { readonly kind: "appended" }>): string {
  if (result.kind === "unavailable") return result.reason;
  return result.kind === "conflict" ? "another process wrote to the ledger" : "another process publishes now";
}

function describeStop({ why, reason }: ReaderStop): string {
  if (why !== "other-history") return `${reason}; nothing after it is applied`;
  return `the store has another history, and nothing of it is applied until it is adopted: ${reason}`;
}

function refuse(reason: string): Plan {
  return { records: [], resources: [], result: () => ({ kind: "refused", reason }) };
}

function refused(reason: string): Refused {
  return { kind: "refused", reason };
}

function notHeld(number: number, held: HeldRecord | undefined): string {
  return `${number} is not held; ${held === undefined ? "nothing is" : `${held.number} is`}`;
}

function authorOf({ author, message }: Authorship): Pick<LedgerRecord, "author" | "message"> {
  return { ...(author !== undefined && { author }), ...(message !== undefined && { message }) };
}
