import type { Resource, TypeUrl } from "@xdskit/protocol";
import {
  type EntryChange,
  type EntryPlace,
  type FuseTrip,
  type HeldRecord,
  ITEMS_A_STEP,
  type LedgerEffect,
  type LedgerState,
  placeKey,
  type SplitChange,
  type Steps,
  splitLive,
  type TypeKind,
} from "@xdskit/protocol/internal";
import { layerChangesInSteps } from "@xdskit/source/checks";
import type { Slices } from "../slices.ts";
import type { AffectedNodesOptions } from "./affected-nodes.ts";
import type { EmptiedFuse } from "./emptied-fuse.ts";
import type { EntryMaker, ResourceChanges } from "./entries.ts";
import { FutureReferences } from "./future-references.ts";
import type { HeldContent } from "./held-content.ts";
import type { LedgerHistory } from "./history.ts";
import type { StateInForce } from "./in-force.ts";
import { type Judged, type Judgement, judgePublication, sameChange } from "./judgement.ts";
import { applied, authorOf, type NewRecord, noResourceChanges, type OperationPlan, refuse } from "./operation-plan.ts";
import { type ChangePlan, planOf, reasonOf, resultOf } from "./plan.ts";
import type { EmptiedPlace, Publication, WaitingDeletion } from "./publication.ts";
import { WaitingDeletions } from "./waiting-deletions.ts";

export interface PublicationPlannerOptions extends AffectedNodesOptions {
  readonly kindOf: (type: TypeUrl) => TypeKind;
  /** Which fuses a change trips. */
  readonly judge: (change: LedgerEffect, state: LedgerState) => Steps<readonly FuseTrip[]>;
  readonly slices: Slices;
  readonly entries: EntryMaker;
  readonly history: LedgerHistory;
  readonly inForce: StateInForce;
  readonly content: HeldContent;
  readonly emptied: EmptiedFuse;
}

/** A publication that a fuse stops. */
interface HeldChange {
  readonly state: LedgerState;
  readonly made: ResourceChanges;
  readonly change: LedgerEffect;
  readonly trips: readonly FuseTrip[];
  readonly restored: ResourceChanges;
}

/** A publication of which nothing comes in force. */
interface NothingMade extends Pick<HeldChange, "state" | "made" | "restored"> {
  readonly waiting: readonly EntryChange[];
  readonly emptied: readonly EntryChange[];
  /** The record of what is emptied, if that is not known. */
  readonly telling: readonly NewRecord[];
}

/**
 * Plans publications upon a state, one upon the other until they are appended; in slices, so the state must not change
 * meanwhile.
 */
export class PublicationPlanner {
  readonly #options: PublicationPlannerOptions;
  /** The layers that a source published last, if they are what is in force. */
  #lastLayers: ReadonlyMap<string, readonly Resource[]> | undefined;
  readonly #waiting = new WaitingDeletions();
  /** What the operations of this append change. */
  #planned: ResourceChanges[] = [];
  /** The writers that published since the start. */
  readonly #known = new Set<string>();

  constructor(options: PublicationPlannerOptions) {
    this.#options = options;
  }

  /** Live data that is deleted once nothing refers to it. */
  get waiting(): readonly WaitingDeletion[] {
    return this.#waiting.places;
  }

  /** An append begins or is over: nothing is planned upon what is in force. */
  begin(): void {
    this.#planned = [];
  }

  /** What a source published last may not be what is in force any more. */
  forgetLast(): void {
    this.#lastLayers = undefined;
  }

  /** A writer is up to date: an operator approved what it has. */
  trust(writer: string): void {
    this.#known.add(writer);
  }

  /** Another process published: what this one has of the same source may be older. */
  distrust(writer: string): void {
    this.#known.delete(writer);
  }

  /** What `publish` would do now. Changes nothing. */
  async preview(given: Publication, state: LedgerState): Promise<ChangePlan> {
    const publication = await this.#options.entries.withDigest(given);
    const staleness = await this.#stalenessOf(publication);
    const made = await this.#changesTo(publication, state);
    const isReferredTo = await this.#referredTo(publication, made, state);
    const judgement = await this.#judge({ publication, state, made, staleness, isReferredTo });
    const { placement } = judgement;
    const trips = [...judgement.trips, ...this.#options.emptied.tripsOf(judgement.emptied)];
    const [result, reason] = [resultOf(judgement), reasonOf(judgement)];
    return {
      ...{ head: this.#options.inForce.number, result, reason, trips, irretrievable: [] },
      ...planOf({ changes: made, placement }, state, this.#options),
    };
  }

  /** Plans a publication upon what was planned before it. */
  async plan(given: Publication, state: LedgerState): Promise<OperationPlan> {
    const publication = await this.#options.entries.withDigest(given);
    const staleness = await this.#stalenessOf(publication);
    if (publication.layers !== undefined && staleness.length === 0) this.#known.add(publication.origin.writer);
    const made = await this.#changesOf(publication, state);
    const isReferredTo = await this.#referredTo(publication, made, state);
    const judgement = await this.#judge({ publication, state, made, staleness, isReferredTo });
    const { placement, problem, live, emptied, waiting, change, isStable, trips, rejectedBy } = judgement;
    const restored = this.#restoredBy(publication, made);
    if (publication.layers !== undefined) this.#lastLayers = publication.layers;
    // Of what waits nothing is in force, so it is a difference again next time.
    const isPartial = waiting.length + emptied.length > 0;
    if (isPartial) this.#lastLayers = undefined;
    if (problem === undefined) this.#waiting.note(publication, made.changes, await this.#waitingFor(judgement));
    const told = problem === undefined && this.#options.emptied.recordOf(publication, emptied, live, state);
    const telling = told ? [told] : [];
    if (made.changes.length === waiting.length + emptied.length && placement === undefined)
      return this.#planNothing(publication, { state, restored, waiting, emptied, telling, made });
    if (problem !== undefined) {
      this.#lastLayers = undefined;
      return refuse(problem);
    }
    if (trips.length > 0) return await this.#planHeld(publication, { state, made, change, trips, restored });
    if (rejectedBy !== undefined) return await this.#planRejected(publication, { state, made, rejectedBy, restored });
    const common = { origin: publication.origin, ...authorOf(publication) };
    const records: NewRecord[] = [];
    // Nobody ever had the live data of the first load without the rest, so there is no number for that.
    const isFirst = state.number === 0 && isStable;
    if (live.length > 0 && !isFirst) records.push({ kind: "live", changes: live, ...common });
    records.push(...telling);
    if (isFirst) records.push({ kind: "revision", ...change, changes: made.changes, ...common });
    else if (isStable) records.push({ kind: "revision", ...change, ...common });
    else if (isDroppedBy(publication, state.held)) records.push(withdrawal(state.held, publication));
    const inForce = !isPartial ? made : { changes: [...live, ...change.changes], resources: made.resources };
    if (isStable) this.#planned.push(inForce);
    const effect = { changes: join(inForce, restored), placement };
    return {
      records,
      resources: made.resources.values(),
      effect,
      live: () => this.#withoutDeletions(effect.changes),
      result: (number, revision) => ({ ...applied(number, revision), ...waitingIn(waiting, emptied) }),
    };
  }

  /** What of a publication is sent without being recorded: live data, but no deletion. */
  async liveOf(publication: Publication, state: LedgerState): Promise<ResourceChanges> {
    this.#lastLayers = undefined;
    const made = await this.#changesTo(publication, state);
    const { slices, emptied } = this.#options;
    const { flowing } = await slices.finish(emptied.split(made.changes, state));
    const flows = { changes: flowing, resources: made.resources };
    return await this.#withoutDeletions(join(flows, this.#restoredBy(publication, made)));
  }

  /** Takes what waited to be deleted, where nothing refers to it any more, as publications of those who asked. */
  async takeDueDeletions(state: LedgerState): Promise<readonly Publication[]> {
    if (this.#waiting.places.length === 0) return [];
    const { references } = this.#options.inForce;
    const held = await this.#options.content.placed(state);
    const future = await this.#options.slices.finish(FutureReferences.of({ references, state, planned: [], held }));
    return this.#waiting.takeDue(
      (place, { origin }) => origin.writer === state.held?.origin.writer || future.needs(place),
    );
  }

  #judge(judged: Judged): Promise<Judgement> {
    const { inForce } = this.#options;
    return judgePublication(judged, { ...this.#options, check: (change) => inForce.check(change) });
  }

  async #withoutDeletions({ changes, resources }: ResourceChanges): Promise<ResourceChanges> {
    return { changes: (await this.#split(changes, true)).live, resources };
  }

  #split(changes: readonly EntryChange[], isReferredTo: boolean): Promise<SplitChange> {
    return this.#options.slices.finish(splitLive(changes, this.#options.kindOf, () => isReferredTo));
  }

  /** An operator rejected what the source has: nothing new is recorded but live data. */
  async #planRejected(
    publication: Publication,
    {
      state,
      made,
      rejectedBy: by,
      restored,
    }: Pick<HeldChange, "state" | "made" | "restored"> & { readonly rejectedBy: number },
  ): Promise<OperationPlan> {
    const plan = await this.#planLive(publication, state, made, restored);
    return { ...plan, result: () => ({ kind: "rejected", by }) };
  }

  /** Nothing of a held change is sent; live data flows, but what is deleted with it stays. */
  async #planHeld(
    publication: Publication,
    { state, made, change, trips, restored }: HeldChange,
  ): Promise<OperationPlan> {
    const plan = await this.#planLive(publication, state, made, restored);
    const records = [...plan.records];
    const common = { origin: publication.origin, ...authorOf(publication) };
    const known = state.held !== undefined && sameChange(state.held, change) ? state.held.number : undefined;
    if (known === undefined) records.push({ kind: "held", ...change, trips, ...common });
    return {
      ...plan,
      records,
      result: (number) => {
        this.#options.content.keep(known ?? number, made.resources);
        return { kind: "held", number: known ?? number, trips };
      },
    };
  }

  /** What of a publication is in force although the rest is not: live data, but none of its deletions. */
  async #planLive(
    publication: Publication,
    state: LedgerState,
    made: ResourceChanges,
    restored: ResourceChanges,
  ): Promise<Omit<OperationPlan, "result">> {
    this.#lastLayers = undefined;
    const { live: all } = await this.#split(made.changes, true);
    const { flowing: live, emptied } = await this.#options.slices.finish(this.#options.emptied.split(all, state));
    const told = this.#options.emptied.recordOf(publication, emptied, live, state);
    const inForce = join({ changes: live, resources: made.resources }, restored);
    const common = { origin: publication.origin, ...authorOf(publication) };
    return {
      records: [
        ...(live.length === 0 ? [] : [{ kind: "live", changes: live, ...common } as const]),
        ...(told ? [told] : []),
      ],
      resources: made.resources.values(),
      ...(inForce.changes.length > 0 && { effect: { changes: inForce, placement: undefined } }),
      live: () => this.#withoutDeletions(inForce),
    };
  }

  /**
   * What a source has when it is first read after a start may be old: a checkout that was set back, a disk that came
   * back. It is if it was published once, but is not what was published last.
   */
  async #stalenessOf({ layers, origin }: Publication): Promise<readonly FuseTrip[]> {
    if (layers === undefined || this.#known.has(origin.writer)) return [];
    const found = await this.#options.history.publishedAs(origin);
    if (found === undefined) return [];
    const message = `the source has what was published as ${found}, which is not the newest: it may be an old copy`;
    return [{ fuse: "stale-source", message }];
  }

  /** The source has what is in force: what it had before and is held is dropped. */
  #planNothing(
    publication: Publication,
    { state: { held }, made, restored, waiting, emptied, telling }: NothingMade,
  ): OperationPlan {
    return {
      records: [...telling, ...(isDroppedBy(publication, held) ? [withdrawal(held, publication)] : [])],
      resources: telling.length > 0 ? made.resources.values() : [],
      ...(restored.changes.length > 0 && { effect: { changes: restored, placement: undefined } }),
      result: (number, revision) => ({ kind: "unchanged", number, revision, ...waitingIn(waiting, emptied) }),
    };
  }

  /** Whether anything refers to live data after a publication: what it makes, what is in force, and what is held. */
  async #referredTo(
    publication: Publication,
    made: ResourceChanges,
    state: LedgerState,
  ): Promise<(place: EntryPlace) => boolean> {
    const { live } = await this.#split(made.changes, false);
    const { slices } = this.#options;
    if (!(await slices.finish(deletesAny(live)))) return () => false;
    const { references } = this.#options.inForce;
    const held = isDroppedBy(publication, state.held) ? [] : await this.#options.content.placed(state);
    const planned = [...this.#planned, made];
    const future = await slices.finish(FutureReferences.of({ references, state, planned, held }));
    return (place) => future.needs(place);
  }

  /** While a change is not in force, everything that its writer deletes of live data waits. */
  async #waitingFor({ made, waiting, trips, rejectedBy }: Judgement): Promise<readonly EntryChange[]> {
    return trips.length === 0 && rejectedBy === undefined ? waiting : (await this.#split(made.changes, true)).waiting;
  }

  async #changesOf(publication: Publication, state: LedgerState): Promise<ResourceChanges> {
    const { layers } = publication;
    const before = this.#lastLayers;
    if (layers === undefined) this.#lastLayers = undefined;
    if (layers === undefined || before === undefined) return await this.#changesTo(publication, state);
    const { entries, slices } = this.#options;
    return await entries.changesBy(await slices.finish(layerChangesInSteps(before, layers)), state);
  }

  async #changesTo({ layers, changes = [], origin }: Publication, state: LedgerState): Promise<ResourceChanges> {
    return layers === undefined
      ? await this.#options.entries.changesBy(changes, state)
      : await this.#options.entries.changesTo(layers, origin.writer, state);
  }

  /**
   * Resources of a publication that are in force already, but whose content was not at hand, or where live data flowed
   * that was not recorded.
   */
  #restoredBy(publication: Publication, made: ResourceChanges): ResourceChanges {
    const unrecorded = new Map(this.#options.inForce.unrecorded.map((place) => [placeKey(place), place]));
    if (!this.#options.inForce.missesContent && unrecorded.size === 0) return noResourceChanges;
    for (const change of made.changes) unrecorded.delete(placeKey(change));
    const resources = new Map<EntryChange, Resource>();
    const { layers, changes = [] } = publication;
    const published = layers ?? changes.map(({ layer, puts = [] }) => [layer, puts] as const);
    for (const [layer, list] of published) {
      for (const resource of list) {
        const { type, name, version } = resource;
        const place = { layer, type, name };
        if (!unrecorded.delete(placeKey(place)) && this.#options.inForce.missingVersion(place) !== version) continue;
        const entry = this.#options.entries.entryOf(resource);
        resources.set({ ...place, before: entry, after: entry }, resource);
      }
    }
    const gone = layers === undefined ? [] : [...unrecorded.values()];
    const deleted = gone.map((place): EntryChange => ({ ...place, before: undefined, after: undefined }));
    return { changes: [...resources.keys(), ...deleted], resources };
  }
}

function* deletesAny(changes: readonly EntryChange[]): Steps<boolean> {
  let taken = 0;
  for (const { after } of changes) {
    if (after === undefined) return true;
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  return false;
}

/** Whether a whole publication is without the change that its writer had before, and that is held. */
function isDroppedBy({ layers, origin }: Publication, held: HeldRecord | undefined): held is HeldRecord {
  return layers !== undefined && held !== undefined && held.origin.writer === origin.writer;
}

function withdrawal({ number }: HeldRecord, { author }: Publication): NewRecord {
  const message = "the files match what is in force again";
  return { kind: "withdrawn", of: number, ...authorOf({ author, message }) };
}

function join(a: ResourceChanges, b: ResourceChanges): ResourceChanges {
  if (b.changes.length === 0) return a;
  return { changes: [...a.changes, ...b.changes], resources: new Map([...a.resources, ...b.resources]) };
}

function waitingIn(
  waiting: readonly EntryChange[],
  emptied: readonly EntryChange[],
): { readonly waiting?: readonly WaitingDeletion[]; readonly emptied?: readonly EmptiedPlace[] } {
  const placesOf = (changes: readonly EntryChange[]): readonly EntryPlace[] =>
    changes.map(({ layer, type, name }) => ({ layer, type, name }));
  return {
    ...(waiting.length > 0 && { waiting: placesOf(waiting) }),
    ...(emptied.length > 0 && { emptied: placesOf(emptied) }),
  };
}
