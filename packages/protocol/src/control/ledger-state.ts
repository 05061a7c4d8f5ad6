import type { TypeUrl } from "../resource/type-url.ts";
import { finish, ITEMS_A_STEP, type Steps } from "../state/steps.ts";
import { type Approval, Approvals } from "./approvals.ts";
import { EmptiedEndpoints, type EmptiedEntry } from "./emptied-endpoints.ts";
import { type EntriesSnapshot, EntryTable } from "./entry-table.ts";
import { type DeletedEntry, LiveDeletions } from "./live-deletions.ts";
import type { Amount } from "./peaks.ts";
import { PinnedEntries } from "./pins.ts";
import { type PlacedEntry, placeKey } from "./place.ts";
import { type PlacementSince, Placements } from "./placements.ts";
import type {
  Entry,
  EntryChange,
  EntryPlace,
  HeldRecord,
  LedgerRecord,
  Pin,
  Placement,
  PublishOrigin,
  RolledBackRecord,
  UnpinnedRecord,
} from "./record.ts";
import { shapeProblem } from "./record-shape.ts";

/** A state of a source that an operator rejected. */
export interface Rejection {
  readonly writer: string;
  /** Of the content of the source. */
  readonly digest: string;
  /** Of the record. */
  readonly number: number;
}

/** A ledger's state as plain JSON. */
export interface LedgerSnapshot {
  readonly form: 1;
  readonly number: number;
  readonly time: number;
  readonly entries: EntriesSnapshot;
  readonly placements: readonly PlacementSince[];
  /** Whether older placements were let go of. */
  readonly isCut: boolean;
  readonly writers: readonly (readonly [layer: string, writer: string])[];
  readonly pins: readonly Pin[];
  readonly pinnedPlacement?: Placement;
  readonly approvals: readonly Approval[];
  readonly held?: HeldRecord;
  readonly rejections?: readonly Rejection[];
  readonly deletedLive?: readonly DeletedEntry[];
  readonly emptiedEndpoints?: readonly EmptiedEntry[];
}

/** What a record puts in force. */
export interface LedgerEffect {
  readonly changes: readonly EntryChange[];
  /** Undefined: unchanged. */
  readonly placement?: Placement;
}

export type Applied =
  | { readonly applied: true; readonly effect: LedgerEffect }
  | { readonly applied: false; readonly reason: string };

const noChanges: readonly EntryChange[] = [];

/**
 * The published state, folded from the ledger's records. `apply` is deterministic: equal records lead to equal states,
 * whoever reads them; the time is that of the records.
 */
export class LedgerState {
  #number = 0;
  #time = 0;
  #table = new EntryTable();
  #placements = new Placements();
  #pins = new PinnedEntries();
  #approvals = new Approvals();
  #deletedLive = new LiveDeletions();
  #emptied = new EmptiedEndpoints();
  #pinnedPlacement: Placement | undefined;
  #held: HeldRecord | undefined;
  /** The places of the held change, made when first needed. */
  #heldPlaces: ReadonlySet<string> | undefined;
  #writers = new Map<string, string>();
  /** What operators rejected last, by writer. */
  #rejections = new Map<string, Rejection>();

  static empty(): LedgerState {
    return new LedgerState();
  }

  /** Throws a RangeError if the snapshot has another form: it is of another version of this program. */
  static fromSnapshot(snapshot: LedgerSnapshot): LedgerState {
    if ((snapshot.form as unknown) !== 1) throw new RangeError(`the form ${snapshot.form} of a ledger is not known`);
    const state = new LedgerState();
    state.#number = snapshot.number;
    state.#time = snapshot.time;
    state.#table = EntryTable.fromSnapshot(snapshot.entries);
    state.#placements = new Placements(snapshot.placements, snapshot.isCut);
    state.#pins = new PinnedEntries(snapshot.pins);
    state.#pinnedPlacement = snapshot.pinnedPlacement;
    state.#approvals = new Approvals(snapshot.approvals);
    state.#held = snapshot.held;
    state.#writers = new Map(snapshot.writers);
    state.#deletedLive = new LiveDeletions(snapshot.deletedLive);
    state.#emptied = new EmptiedEndpoints(snapshot.emptiedEndpoints);
    state.#rejections = new Map((snapshot.rejections ?? []).map((one) => [one.writer, one]));
    return state;
  }

  toSnapshot(): LedgerSnapshot {
    return finish(this.toSnapshotInSteps());
  }

  /** As `toSnapshot`; the state must not change until it is finished. */
  *toSnapshotInSteps(): Steps<LedgerSnapshot> {
    const deletedLive = this.#deletedLive.list;
    const emptiedEndpoints = this.#emptied.list;
    return {
      form: 1,
      number: this.#number,
      time: this.#time,
      entries: yield* this.#table.toSnapshot(),
      placements: this.#placements.kept,
      isCut: this.#placements.isCut,
      writers: [...this.#writers],
      pins: this.#pins.list,
      approvals: this.#approvals.list,
      ...(this.#pinnedPlacement !== undefined && { pinnedPlacement: this.#pinnedPlacement }),
      ...(this.#held !== undefined && { held: this.#held }),
      ...(this.#rejections.size > 0 && { rejections: [...this.#rejections.values()] }),
      ...(deletedLive.length > 0 && { deletedLive }),
      ...(emptiedEndpoints.length > 0 && { emptiedEndpoints }),
    };
  }

  /** Of the newest record; 0: there is none. */
  get number(): number {
    return this.#number;
  }

  /** Of the newest record. */
  get time(): number {
    return this.#time;
  }

  /** Undefined: none was published. */
  get placement(): Placement | undefined {
    return this.#placements.now;
  }

  /** The change that waits for an approval, less what live data has overtaken. */
  get held(): HeldRecord | undefined {
    return this.#held;
  }

  get pins(): readonly Pin[] {
    return this.#pins.list;
  }

  /** Number of entries. */
  get size(): number {
    return this.#table.size;
  }

  /** Every entry, or those of some layers. */
  entries(layers?: Iterable<string>): Iterable<PlacedEntry> {
    return this.#table.entries(layers);
  }

  entry(place: EntryPlace): Entry | undefined {
    return this.#table.get(place);
  }

  /** The placement at a number; "unknown": it was let go of. */
  placementAt(number: number): Placement | undefined | "unknown" {
    return this.#placements.at(number);
  }

  /** The layers that a writer was the last to publish. */
  layersOf(writer: string): readonly string[] {
    return [...this.#writers].flatMap(([layer, last]) => (last === writer ? [layer] : []));
  }

  /** The placement that the last rollback took back, which must not be published again. */
  get pinnedPlacement(): Placement | undefined {
    return this.#pinnedPlacement;
  }

  /** The record by which an operator rejected what a source has, if that is the last that was decided on it. */
  rejectionOf({ writer, digest }: PublishOrigin): number | undefined {
    const rejection = this.#rejections.get(writer);
    return digest !== undefined && rejection?.digest === digest ? rejection.number : undefined;
  }

  /** The pin that a change would go against. */
  pinAgainst(change: EntryChange): Pin | undefined {
    return this.#pins.forbidding(change);
  }

  /** The live data that was deleted last, the oldest first. */
  get deletedLive(): readonly DeletedEntry[] {
    return this.#deletedLive.list;
  }

  /** The endpoints that are held back because they became empty. */
  get emptied(): readonly EmptiedEntry[] {
    return this.#emptied.list;
  }

  emptiedAt(place: EntryPlace): EmptiedEntry | undefined {
    return this.#emptied.at(place);
  }

  /** What is left of the emptied endpoints of a record; empty: it is not of any, or decided. */
  emptiedBy(number: number): readonly EntryChange[] {
    return this.#emptied.of(number);
  }

  /** The types of which a layer has or lately had entries. */
  typesIn(layer: string): Iterable<TypeUrl> {
    return this.#table.typesIn(layer);
  }

  /** How much there is of a layer and type. */
  amount(layer: string, type: TypeUrl): Amount {
    return this.#table.amount(layer, type);
  }

  /** The most that there was of a layer and type in the hour before a time, less what was approved to go. */
  highest(layer: string, type: TypeUrl, time: number): Amount {
    return this.#table.highest(layer, type, time);
  }

  /** Whether an approval covers the deletion of a place: for 15 minutes, in any revision. */
  covers(place: EntryPlace, time: number): boolean {
    return this.#approvals.covers(place, time);
  }

  /** What a record puts in force when it is applied now; an approval puts in force what is held. */
  #effectOf(record: LedgerRecord): LedgerEffect {
    if (record.kind === "approved" && record.of !== this.#held?.number) return { changes: this.#emptied.of(record.of) };
    if (record.kind === "approved" && this.#held !== undefined) return effectIn(this.#held);
    if (record.kind === "revision" || record.kind === "rolled-back") return effectIn(record);
    return { changes: record.kind === "live" ? record.changes : noChanges };
  }

  /** Takes in the next record, and returns what it puts in force. One that is refused changes nothing. */
  apply(record: LedgerRecord): Applied {
    return finish(this.applyInSteps(record));
  }

  /** As `apply`; until it is finished the state is not to be looked at. */
  *applyInSteps(record: LedgerRecord): Steps<Applied> {
    const reason = yield* this.#problemWith(record);
    if (reason !== undefined) return { applied: false, reason };
    const effect = this.#effectOf(record);
    const { changes, placement } = effect;
    const held = this.#held;
    this.#number = record.number;
    this.#time = record.time;
    if (record.kind === "emptied") this.#emptied.told(record);
    else if (record.kind === "approved" && record.of !== held?.number) this.#approvals.agree(changes, this.#time);
    else if (record.kind === "approved") {
      this.#approvals.approve(changes, this.#time);
      if (held !== undefined) {
        yield* this.#recordWriter(held.origin.writer, changes);
        this.#rejections.delete(held.origin.writer);
      }
      this.#hold(undefined);
    } else if (record.kind === "rejected") {
      this.#reject(record.number);
      this.#hold(undefined);
    } else if (record.kind === "withdrawn") this.#hold(undefined);
    else if (record.kind === "held") {
      this.#rejections.delete(record.origin.writer);
      this.#hold(record);
    } else if (record.kind === "revision") {
      this.#rejections.delete(record.origin.writer);
      yield* this.#recordWriter(record.origin.writer, changes);
      if (record.origin.writer === held?.origin.writer || this.#touchesHeld(changes)) this.#hold(undefined);
    } else if (record.kind === "live") {
      const unowned = changes.filter(({ layer }) => !this.#writers.has(layer));
      yield* this.#recordWriter(record.origin.writer, unowned);
      this.#overtake(changes);
      this.#deletedLive.changed(changes, record.number);
    } else if (record.kind === "unpinned") this.#unpin(record);
    this.#emptied.overtake(changes);
    const isDecided = record.kind === "approved" || record.kind === "rolled-back";
    yield* this.#table.put(
      changes,
      record.time,
      (change) => isDecided || (change.after === undefined && this.covers(change, record.time)),
    );
    if (record.kind === "rolled-back") this.#takeBack(record);
    else if (record.kind !== "live") yield* this.#pins.release(changes);
    if (placement === undefined) return { applied: true, effect };
    this.#pinnedPlacement = record.kind === "rolled-back" ? this.placement : undefined;
    this.#placements.set(record.number, placement);
    return { applied: true, effect };
  }

  *#problemWith(record: LedgerRecord): Steps<string | undefined> {
    const problem = yield* shapeProblem(record);
    if (problem !== undefined) return `the record after ${this.#number} cannot be read: ${problem}`;
    if (record.number !== this.#number + 1) {
      return `a record has the number ${record.number}, where ${this.#number + 1} is next`;
    }
    if (record.kind === "approved" || record.kind === "rejected" || record.kind === "withdrawn") {
      if (record.of === this.#held?.number) return undefined;
      if (record.kind === "approved" && this.#emptied.of(record.of).length > 0) return undefined;
      return `${record.number} is a decision on ${record.of}, which is not held`;
    }
    if (record.kind === "rolled-back" && !(record.to >= 0 && record.to < record.number)) {
      return `${record.number} goes back to ${record.to}, which was never reached`;
    }
    return undefined;
  }

  #takeBack({ changes, pins }: RolledBackRecord): void {
    this.#deletedLive.returned(changes);
    for (const { layer, type, name, after } of changes) {
      this.#pins.delete({ layer, type, name, version: after?.version });
    }
    for (const pin of pins) this.#pins.add(pin);
    this.#hold(undefined);
  }

  #unpin({ pins, placement }: UnpinnedRecord): void {
    for (const pin of pins) this.#pins.delete(pin);
    if (placement === true) this.#pinnedPlacement = undefined;
  }

  *#recordWriter(writer: string, changes: readonly EntryChange[]): Steps<void> {
    let taken = 0;
    for (const { layer } of changes) {
      if (this.#writers.get(layer) !== writer) this.#writers.set(layer, writer);
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
  }

  #hold(held: HeldRecord | undefined): void {
    this.#held = held;
    this.#heldPlaces = undefined;
  }

  /** What the writer of the held change has is rejected, as long as it has that. */
  #reject(number: number): void {
    const { writer, digest } = this.#held?.origin ?? {};
    if (writer !== undefined && digest !== undefined) this.#rejections.set(writer, { writer, digest, number });
  }

  #touchesHeld(changes: readonly EntryChange[]): boolean {
    if (this.#held === undefined) return false;
    this.#heldPlaces ??= new Set(this.#held.changes.map(placeKey));
    const places = this.#heldPlaces;
    return changes.some((change) => places.has(placeKey(change)));
  }

  /** What became of a place since decides, not the change that waits. */
  #overtake(changes: readonly EntryChange[]): void {
    if (this.#held === undefined || !this.#touchesHeld(changes)) return;
    const overtaken = new Set(changes.map(placeKey));
    this.#hold({ ...this.#held, changes: this.#held.changes.filter((change) => !overtaken.has(placeKey(change))) });
  }
}

function effectIn({ changes, placement }: LedgerEffect): LedgerEffect {
  return { changes, ...(placement !== undefined && { placement }) };
}
