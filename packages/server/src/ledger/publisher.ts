import { type LayerChange, messageNameOf, type Resource, type TypeUrl } from "@xdskit/protocol";
import {
  type Digest,
  type EntryChange,
  type FuseTrip,
  type HeldRecord,
  type JudgedNode,
  type LedgerEffect,
  type LedgerRecord,
  type LedgerState,
  type Placement,
  placeKey,
  reverseTo,
  splitLive,
  type TypeKind,
} from "@xdskit/protocol/internal";
import { layerChangesBetween } from "@xdskit/source/checks";
import { affectedNodes } from "./affected-nodes.ts";
import { EntryMaker, layerChanges, type ResourceChanges } from "./entries.ts";
import { isChange, LedgerHistory } from "./history.ts";
import { judgePublication, sameChange } from "./judgement.ts";
import type { PlannedEntries, PublishPlan } from "./plan.ts";
import type { Authorship, MissingContent, Publication, PublishResult } from "./publication.ts";
import { readLedger, resourcesOf } from "./reading.ts";
import { Compactor, type Retention, recordsOf } from "./retention.ts";
import type { LedgerHead, LedgerStore } from "./store.ts";

/** Most operations that one append takes. */
const LARGEST_GROUP = 256;
/** Of so many numbers it is known which revision of the server has them. */
const NUMBERS_KNOWN = 10_000;

/** What comes in force together. */
export interface StateChange {
  readonly changes: readonly LayerChange[];
  /** Undefined: unchanged. */
  readonly placement: Placement | undefined;
}

/** The server, as the publisher changes it. */
export interface PublishTarget {
  readonly revision: number;
  /** Why a change cannot be put in force; undefined: it can. */
  check(change: Pick<StateChange, "changes" | "placement">): string | undefined;
  /** Puts a change in force and returns the revision. */
  apply(change: StateChange): number;
  /** Told whenever other resources are in force without their content. */
  setMissing(missing: readonly MissingContent[]): void;
}

export interface PublisherOptions {
  readonly store: LedgerStore;
  readonly retention: Retention;
  readonly digest: Digest;
  readonly holdsSecret: (resource: Resource) => boolean;
  readonly kindOf: (type: TypeUrl) => TypeKind;
  /** Which fuses a change trips. */
  readonly judge: (change: LedgerEffect, state: LedgerState) => readonly FuseTrip[];
  /** The connected nodes before a change and after it. */
  readonly nodesBy: (change: LedgerEffect, state: LedgerState) => Iterable<JudgedNode>;
  readonly target: PublishTarget;
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

/** A record without what the ledger gives it. */
type NewRecord = LedgerRecord extends infer R ? (R extends LedgerRecord ? Omit<R, "number" | "time"> : never) : never;

/** What an operation wants to record, and what comes in force by it. */
interface Plan {
  readonly records: readonly NewRecord[];
  readonly resources: Iterable<Resource>;
  readonly effect?: { readonly changes: ResourceChanges; readonly placement: Placement | undefined };
  /** The result, given the number of its last record and the revision. */
  readonly result: (number: number, revision: number) => PublishResult;
}

interface Operation {
  readonly plan: (state: LedgerState) => Plan | Promise<Plan>;
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
  readonly #revisions = new Map<number, number>();
  /** Numbers that are not of live data, in order, and the revisions at which they came in force. */
  readonly #changes: { readonly number: number; readonly revision: number }[] = [];
  readonly #missing = new Map<string, MissingContent & { readonly version: string }>();
  /** Ahead of what is told while records are being appended. */
  #state: LedgerState;
  #told: { readonly number: number; readonly held: HeldRecord | undefined };
  #head: LedgerHead;
  /** The layers that a source published last, if they are what is in force. */
  #inForce: ReadonlyMap<string, readonly Resource[]> | undefined;
  /** The resources of the held change by place, while they are at hand. */
  #heldResources: { readonly number: number; readonly resources: ReadonlyMap<string, Resource> } | undefined;
  #running: Promise<void> | undefined;
  /** The number at the start; the earlier ones are in force by the same revision. */
  #resumed = 0;
  /** The writers that published since the start. */
  readonly #known = new Set<string>();
  /** The state has records that the store has not. */
  #isAhead = false;
  #isClosed = false;

  private constructor(options: PublisherOptions, state: LedgerState, compactor: Compactor) {
    this.history = new LedgerHistory(options.store);
    this.#options = options;
    this.#entries = new EntryMaker(options);
    this.#compactor = compactor;
    this.#state = state;
    this.#told = { number: state.number, held: state.held };
    this.#head = options.store.head;
  }

  /** Reads the ledger and puts in force what was; the server serves it from then on. */
  static async open(options: PublisherOptions): Promise<Publisher> {
    const compactor = new Compactor(options);
    const state = await readLedger(options.store, (record) => compactor.count(record));
    const publisher = new Publisher(options, state, compactor);
    if (publisher.#state.number > 0) await publisher.#resume();
    return publisher;
  }

  /** The newest record that is durable and, if it is a change, in force. */
  get number(): number {
    return this.#told.number;
  }

  get held(): HeldRecord | undefined {
    return this.#told.held;
  }

  /** The resources in force whose content is not at hand: clients keep what they have of them. */
  get missing(): readonly MissingContent[] {
    return [...this.#missing.values()];
  }

  /** The revision of the server that a number is; undefined if it is not reached, or not known any more. */
  revisionOf(number: number): number | undefined {
    return this.#revisions.get(Math.max(number, this.#resumed));
  }

  /** The newest number that is in force at a revision. */
  numberOf(revision: number): number {
    for (let number = this.number; number > this.#resumed; number--) {
      const known = this.#revisions.get(number);
      if (known !== undefined && known <= revision) return number;
    }
    return this.#resumed;
  }

  /** The newest change in force at a revision, live data and decisions that change nothing left out. */
  changeAt(revision: number): number | undefined {
    return this.#changes.findLast((change) => change.revision <= revision)?.number;
  }

  publish(publication: Publication): Promise<PublishResult> {
    return this.#enqueue((state) => this.#planPublication(publication, state));
  }

  /** What `publish` would do now. Records nothing, and nothing comes in force. */
  async plan(given: Publication, entries: PlannedEntries = []): Promise<PublishPlan> {
    await this.#catchUp();
    for (const [resource, entry] of entries) this.#entries.know(resource, entry);
    const publication = this.#entries.withDigest(given);
    const staleness = await this.#stalenessOf(publication);
    const state = this.#state;
    const { layers, changes = [], origin } = publication;
    const made =
      layers === undefined
        ? this.#entries.changesBy(changes, state)
        : this.#entries.changesTo(layers, origin.writer, state);
    const judgement = judgePublication({ publication, state, made, staleness }, this.#options);
    const whole = { ...judgement.change, changes: made.changes };
    const nodes = affectedNodes(whole, state, this.#options);
    return { ...judgement, head: this.number, nodes };
  }

  /** Puts the held change `number` in force. */
  approve(number: number, by: Authorship = {}): Promise<PublishResult> {
    return this.#enqueue(async (state) => {
      const { held } = state;
      if (held?.number !== number) return refuse(notHeld(number, held));
      const resources = new Map(await this.#bodiesOf(held.changes));
      const atHand = this.#heldResources?.number === number ? this.#heldResources.resources : undefined;
      for (const change of held.changes) {
        const resource = atHand?.get(placeKey(change));
        if (change.after !== undefined && resource !== undefined) resources.set(change, resource);
      }
      const lost = lostIn(held.changes, resources);
      if (lost !== undefined) return refuse(lost);
      const made = { changes: held.changes, resources };
      const problem = this.#options.target.check({ changes: layerChanges(made), placement: held.placement });
      if (problem !== undefined) return refuse(problem);
      this.#inForce = undefined;
      this.#known.add(held.origin.writer);
      return {
        records: [{ kind: "approved", of: number, ...authorOf(by) }],
        resources: [],
        effect: { changes: made, placement: held.placement },
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
      const { store, kindOf } = this.#options;
      const records: LedgerRecord[] = [];
      for await (const record of recordsOf(store)) if (record.kind !== "live") records.push(record);
      const reversal = reverseTo(state, { to, records, completeAfter: store.completeAfter, kindOf });
      if (reversal.kind === "refused") return refuse(reversal.reason);
      const { changes, pins, placement, irretrievable } = reversal;
      const resources = await this.#bodiesOf(changes);
      const lost = lostIn(changes, resources);
      if (lost !== undefined) return refuse(lost);
      this.#inForce = undefined;
      if (changes.length === 0 && placement === undefined)
        return irretrievable.length === 0 ? unchanged : refuse(`${to} had only what holds a secret, which is not kept`);
      const made = { changes, resources };
      const problem = this.#options.target.check({ changes: layerChanges(made), placement });
      if (problem !== undefined) return refuse(problem);
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

  /** Resolves when everything that was begun is recorded and in force, and the store is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    await this.#compactor.settled();
    await this.#options.store.close();
  }

  #enqueue(plan: Operation["plan"]): Promise<PublishResult> {
    return new Promise((settle, fail) => {
      if (this.#isClosed) {
        settle({ kind: "refused", reason: "the server is closed" });
        return;
      }
      this.#queue.push({ plan, settle, fail });
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
  async #take(operations: readonly Operation[]): Promise<void> {
    const unreadable = await this.#catchUp();
    if (unreadable !== undefined) {
      for (const { settle } of operations) settle({ kind: "refused", reason: unreadable });
      return;
    }
    const records: LedgerRecord[] = [];
    const planned: { readonly operation: Operation; readonly plan: Plan; readonly records: readonly LedgerRecord[] }[] =
      [];
    const bodies = new Map<string, Uint8Array>();
    for (const operation of operations) {
      try {
        const plan = await operation.plan(this.#state);
        const own = plan.records.map((record) => this.#fold(record, records));
        for (const [id, bytes] of this.#entries.bodiesOf(plan.resources)) bodies.set(id, bytes);
        planned.push({ operation, plan, records: own });
      } catch (cause) {
        this.#inForce = undefined;
        operation.fail(cause);
      }
    }
    const reason = records.length === 0 ? undefined : await this.#store(records, bodies);
    // What was planned upon a change that is not recorded is not true either.
    let isLost = false;
    for (const one of planned) {
      isLost ||= one.records.length > 0;
      if (reason !== undefined && isLost) one.operation.settle({ kind: "refused", reason });
      else this.#perform(one.operation, one.plan, one.records);
    }
    this.#told = { number: this.#told.number, held: this.#state.held };
  }

  /** Numbers a record and takes it into the state. */
  #fold(record: NewRecord, into: LedgerRecord[]): LedgerRecord {
    const numbered = { ...record, number: this.#state.number + 1, time: Date.now() } as LedgerRecord;
    const folded = this.#state.apply(numbered);
    if (!folded.applied) throw new Error(`the ledger refuses its own record: ${folded.reason}`);
    into.push(numbered);
    return numbered;
  }

  /** Appends the records; returns why they are not, and then the state is again what the store has. */
  async #store(records: readonly LedgerRecord[], bodies: ReadonlyMap<string, Uint8Array>): Promise<string | undefined> {
    const { store, onProblem } = this.#options;
    const appended = await store.append(this.#head, {
      records: records.map((record) => JSON.stringify(record)),
      bodies,
    });
    if (appended.kind !== "unavailable") this.#head = appended.head;
    if (appended.kind === "appended") {
      for (const record of records) this.#compactor.count(record);
      this.#compactor.compactIfDue(this.#state);
      return undefined;
    }
    const message = appended.kind === "conflict" ? "another process wrote to the ledger" : appended.reason;
    onProblem(message);
    this.#inForce = undefined;
    this.#isAhead = true;
    await this.#catchUp();
    return message;
  }

  /** After a failed append: reads again what is durable. Returns why that cannot be read. */
  async #catchUp(): Promise<string | undefined> {
    if (!this.#isAhead) return undefined;
    try {
      this.#state = await readLedger(this.#options.store);
      this.#isAhead = false;
      return undefined;
    } catch (cause) {
      const reason = `the ledger cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
      this.#options.onProblem(reason);
      return reason;
    }
  }

  #perform({ settle, fail }: Operation, { effect, result }: Plan, records: readonly LedgerRecord[]): void {
    const { target, onRecorded } = this.#options;
    try {
      const revision = effect === undefined ? target.revision : this.#putInForce(effect);
      for (const record of records) {
        this.#note(record.number, revision);
        if (isChange(record)) this.#noteChange(record.number, revision);
        this.#told = { ...this.#told, number: record.number };
        const approved = record.kind === "approved" ? (effect?.changes.changes ?? []) : [];
        onRecorded(record, "changes" in record ? record.changes : approved);
      }
      settle(result(records.at(-1)?.number ?? this.number, revision));
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      if (records.length > 0) this.#options.onProblem(`what is recorded cannot be put in force: ${why}`);
      fail(cause);
    }
  }

  #putInForce({ changes, placement }: NonNullable<Plan["effect"]>): number {
    const found = changes.changes.filter((change) => this.#missing.delete(placeKey(change)));
    const revision = this.#options.target.apply({ changes: layerChanges(changes), placement });
    if (found.length > 0) this.#options.target.setMissing(this.missing);
    return revision;
  }

  #note(number: number, revision: number): void {
    this.#revisions.set(number, revision);
    this.#revisions.delete(number - NUMBERS_KNOWN);
  }

  #noteChange(number: number, revision: number): void {
    this.#changes.push({ number, revision });
    if (this.#changes.length > NUMBERS_KNOWN) this.#changes.shift();
  }

  async #resume(): Promise<void> {
    const { target, onResumed } = this.#options;
    const changes: EntryChange[] = [];
    for (const { layer, type, name, entry } of this.#state.entries())
      changes.push({ layer, type, name, before: undefined, after: entry });
    const resources = await this.#bodiesOf(changes);
    for (const change of changes)
      if (!resources.has(change))
        this.#missing.set(placeKey(change), { ...change, version: change.after?.version ?? "" });
    if (this.#missing.size > 0) target.setMissing(this.missing);
    const revision = target.apply({
      changes: layerChanges({ changes, resources }),
      placement: this.#state.placement,
    });
    const { number } = this.#state;
    this.#resumed = number;
    this.#note(number, revision);
    this.#noteChange((await this.history.newestChange()) ?? number, revision);
    onResumed({ number, resources: resources.size, missing: this.#missing.size });
  }

  async #planPublication(given: Publication, state: LedgerState): Promise<Plan> {
    const publication = this.#entries.withDigest(given);
    const staleness = await this.#stalenessOf(publication);
    if (publication.layers !== undefined && staleness.length === 0) this.#known.add(publication.origin.writer);
    const made = this.#changesOf(publication, state);
    const { placement, problem, live, change, isStable, trips } = judgePublication(
      { publication, state, made, staleness },
      this.#options,
    );
    const restored = this.#missing.size === 0 ? none : this.#restoredBy(publication);
    if (publication.layers !== undefined) this.#inForce = publication.layers;
    if (made.changes.length === 0 && placement === undefined) return this.#planNothing(publication, state, restored);
    if (problem !== undefined) {
      this.#inForce = undefined;
      return refuse(problem);
    }
    if (trips.length > 0) return this.#planHeld(publication, { state, made, change, trips, restored });
    const common = { origin: publication.origin, ...authorOf(publication) };
    const records: NewRecord[] = [];
    if (live.length > 0) records.push({ kind: "live", changes: live, ...common });
    if (isStable) records.push({ kind: "revision", ...change, ...common });
    else if (isDroppedBy(publication, state.held)) records.push(rejection(state.held, publication));
    const effect = { changes: join(made, restored), placement };
    return { records, resources: made.resources.values(), effect, result: applied };
  }

  /** Nothing of a held change is sent; live data flows, but what is deleted with it stays. */
  #planHeld(publication: Publication, { state, made, change, trips, restored }: HeldChange): Plan {
    this.#inForce = undefined;
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
    if (layers === undefined || this.#resumed === 0 || this.#known.has(origin.writer)) return [];
    const found = await this.history.publishedAs(origin);
    if (found === undefined) return [];
    const message = `the source has what was published as ${found}, which is not the newest: it may be an old copy`;
    return [{ fuse: "stale-source", message }];
  }

  /** The source has what is in force: what it had before and is held is dropped. */
  #planNothing(publication: Publication, { held }: LedgerState, restored: ResourceChanges): Plan {
    return {
      records: isDroppedBy(publication, held) ? [rejection(held, publication)] : [],
      resources: [],
      ...(restored.changes.length > 0 && { effect: { changes: restored, placement: undefined } }),
      result: (number, revision) => ({ kind: "unchanged", number, revision }),
    };
  }

  #changesOf({ layers, changes = [], origin }: Publication, state: LedgerState): ResourceChanges {
    const before = this.#inForce;
    if (layers === undefined) {
      this.#inForce = undefined;
      return this.#entries.changesBy(changes, state);
    }
    if (before === undefined) return this.#entries.changesTo(layers, origin.writer, state);
    return this.#entries.changesBy(layerChangesBetween(before, layers), state);
  }

  /** Resources of a publication that are in force already, but whose content was not at hand. */
  #restoredBy({ layers, changes = [] }: Publication): ResourceChanges {
    const resources = new Map<EntryChange, Resource>();
    const published = layers ?? changes.map(({ layer, puts = [] }) => [layer, puts] as const);
    for (const [layer, list] of published) {
      for (const resource of list) {
        const { type, name, version } = resource;
        const place = { layer, type, name };
        if (this.#missing.get(placeKey(place))?.version !== version) continue;
        const entry = this.#entries.entryOf(resource);
        resources.set({ ...place, before: entry, after: entry }, resource);
      }
    }
    return { changes: [...resources.keys()], resources };
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

function join(a: ResourceChanges, b: ResourceChanges): ResourceChanges {
  if (b.changes.length === 0) return a;
  return { changes: [...a.changes, ...b.changes], resources: new Map([...a.resources, ...b.resources]) };
}

function applied(number: number, revision: number): PublishResult {
  return { kind: "applied", number, revision };
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

function refuse(reason: string): Plan {
  return { records: [], resources: [], result: () => ({ kind: "refused", reason }) };
}

function notHeld(number: number, held: HeldRecord | undefined): string {
  return `${number} is not held; ${held === undefined ? "nothing is" : `${held.number} is`}`;
}

function authorOf({ author, message }: Authorship): Pick<LedgerRecord, "author" | "message"> {
  return { ...(author !== undefined && { author }), ...(message !== undefined && { message }) };
}
