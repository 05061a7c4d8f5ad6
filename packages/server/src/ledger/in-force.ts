import type { LayerChange } from "@xdskit/protocol";
import {
  type EntryPlace,
  type HeldRecord,
  ITEMS_A_STEP,
  type KindOf,
  type LedgerState,
  type Placement,
  placeKey,
  type Steps,
} from "@xdskit/protocol/internal";
import type { MissingChange, MissingContent } from "../hub/missing-resources.ts";
import type { Slices } from "../slices.ts";
import { layerChanges, type ResourceChanges } from "./entries.ts";
import { HeadWaiters } from "./head-waiters.ts";
import { type NewestChanges, NumbersInForce } from "./numbers-in-force.ts";
import { type PlacedResource, References } from "./references.ts";

/** What comes in force together. */
export interface StateChange {
  readonly changes: readonly LayerChange[];
  /** Undefined: unchanged. */
  readonly placement: Placement | undefined;
}

/** The server, as the ledger changes it. */
export interface PublishTarget {
  readonly revision: number;
  /**
   * Told before the first change which Clusters other servers had in force lately: all of the oldest state, and then how
   * each state differs from the one before it.
   */
  restorePast?(states: readonly (readonly LayerChange[])[]): void;
  /** Why a change cannot be put in force; undefined: it can. */
  check(change: Pick<StateChange, "changes" | "placement">): Promise<string | undefined> | string | undefined;
  /** Puts a change in force and returns the revision. */
  apply(change: StateChange): Promise<number> | number;
  /** All resources in force. */
  resources(): Iterable<PlacedResource>;
  /** Told which other resources are in force without their content: nothing but the change, because they may be many. */
  changeMissing(change: MissingChange): void;
  /** Told which numbers are in force from now on, each time after the change that put them in force. */
  setNumbers?(numbers: NumbersReached): void;
}

/** The numbers that are in force by the newest revision. */
export type NumbersReached =
  | { readonly kind: "resumed"; readonly number: number; readonly newest: NewestChanges }
  | { readonly kind: "reached"; readonly before: number; readonly number: number }
  | { readonly kind: "changed"; readonly number: number; readonly stable: number | undefined };

/** Changes of entries with their resources, and the placement if it changes. */
export interface InForceChange {
  readonly changes: ResourceChanges;
  readonly placement: Placement | undefined;
}

/** What of a ledger is in force in this server. */
export class StateInForce {
  readonly #target: PublishTarget;
  readonly #slices: Slices;
  readonly #numbers = new NumbersInForce();
  readonly #missing = new Map<string, MissingVersion>();
  /** Live data that flows here although it is not recorded. */
  readonly #unrecorded = new Map<string, EntryPlace>();
  readonly #waiters = new HeadWaiters();
  #held: HeldRecord | undefined;
  #placement: Placement | undefined;
  /** What was checked last, which most likely is what comes in force next. */
  #checked: { readonly changes: ResourceChanges; readonly inLayers: readonly LayerChange[] } | undefined;

  /** What refers to what. */
  readonly references: References;

  constructor(target: PublishTarget, kindOf: KindOf, slices: Slices) {
    this.#target = target;
    this.#slices = slices;
    this.references = new References(() => target.resources(), kindOf);
  }

  /** The newest record that is durable and, if it is a change, in force. */
  get number(): number {
    return this.#numbers.number;
  }

  get held(): HeldRecord | undefined {
    return this.#held;
  }

  get placement(): Placement | undefined {
    return this.#placement;
  }

  /** The resources in force whose content is not at hand: clients keep what they have of them. */
  get missing(): readonly MissingContent[] {
    return [...this.#missing.values()];
  }

  get missesContent(): boolean {
    return this.#missing.size > 0;
  }

  get revision(): number {
    return this.#target.revision;
  }

  /** The version of a resource in force whose content is not at hand. */
  missingVersion(place: EntryPlace): string | undefined {
    return this.#missing.get(placeKey(place))?.version;
  }

  /** The revision of the server that a number is; undefined if it is not reached, or not known any more. */
  revisionOf(number: number): number | undefined {
    return this.#numbers.revisionOf(number);
  }

  /** The newest number that is in force at a revision. */
  numberOf(revision: number): number {
    return this.#numbers.numberOf(revision);
  }

  /** The number of the newest change that is in force at a revision. */
  changeOf(revision: number): number {
    return this.#numbers.changeOf(revision);
  }

  /** The number of the newest change in force at a revision, live data left out; undefined: there is none. */
  stableChangeOf(revision: number): number | undefined {
    return this.#numbers.stableChangeOf(revision);
  }

  /** Why a change cannot be put in force; undefined: it can. */
  async check({ changes, placement }: InForceChange): Promise<string | undefined> {
    const inLayers = await this.#slices.finish(layerChanges(changes));
    this.#checked = { changes, inLayers };
    return await this.#target.check({ changes: inLayers, placement });
  }

  /**
   * Puts in force what a ledger came to; returns how many of its resources have no content. `newest` are the numbers of
   * the newest change, and of the newest that is not of live data, if those are still kept.
   */
  async resume(state: LedgerState, changes: ResourceChanges, newest: NewestChanges): Promise<number> {
    await this.put({ changes, placement: state.placement });
    this.#numbers.resume(state.number, newest, this.#target.revision);
    this.#waiters.moved(state.number);
    this.#target.setNumbers?.({ kind: "resumed", number: state.number, newest });
    this.#held = state.held;
    return this.#missing.size;
  }

  /** Puts a change in force and returns the revision; resources without content become missing. */
  async put({ changes, placement }: InForceChange): Promise<number> {
    const { added, removed } = await this.#slices.finish(this.#changeOfMissing(changes));
    await this.#slices.finish(this.references.changed(changes));
    const checked = this.#checked?.changes === changes ? this.#checked.inLayers : undefined;
    this.#checked = undefined;
    const inLayers = checked ?? (await this.#slices.finish(layerChanges(changes)));
    if (this.#unrecorded.size > 0) for (const change of changes.changes) this.#unrecorded.delete(placeKey(change));
    // Before the change, so that no client is told that what has no content is not there.
    for (const one of added) this.#missing.set(placeKey(one), one);
    if (added.length > 0) this.#target.changeMissing({ added: added.map(placeOf), removed: [] });
    const revision = await this.#target.apply({ changes: inLayers, placement });
    this.#placement = placement ?? this.#placement;
    for (const one of removed) this.#missing.delete(placeKey(one));
    if (removed.length > 0) this.#target.changeMissing({ added: [], removed: removed.map(placeOf) });
    return revision;
  }

  /** Puts live data in force that cannot be recorded now. */
  async putUnrecorded(changes: ResourceChanges): Promise<void> {
    if (changes.changes.length === 0) return;
    await this.put({ changes, placement: undefined });
    for (const { layer, type, name } of changes.changes) {
      const place = { layer, type, name };
      this.#unrecorded.set(placeKey(place), place);
    }
  }

  /** Where live data is in force that is not recorded. */
  get unrecorded(): readonly EntryPlace[] {
    return [...this.#unrecorded.values()];
  }

  /** The records after `before` up to `number` are in force by a revision. */
  reached(before: number, number: number, revision: number): void {
    this.#numbers.reached(before, number, revision);
    this.#target.setNumbers?.({ kind: "reached", before, number });
    this.#waiters.moved(number);
  }

  /** A change is in force by a revision; `stable` is its number if it is not of live data only. */
  changed(number: number, revision: number, stable: number | undefined): void {
    this.#numbers.changed(number, revision, stable);
    this.#target.setNumbers?.({ kind: "changed", number, stable });
  }

  /** Resolves when a record is in force, or the signal aborts. */
  async whenReached(number: number, signal: AbortSignal): Promise<void> {
    if (this.#numbers.number < number) await this.#waiters.wait(number - 1, signal);
  }

  setHeld(held: HeldRecord | undefined): void {
    this.#held = held;
  }

  /** What of a change comes without content, and what was missing and is so no longer. */
  *#changeOfMissing({ changes, resources }: ResourceChanges): Steps<{
    readonly added: readonly MissingVersion[];
    readonly removed: readonly MissingVersion[];
  }> {
    const [added, removed]: [MissingVersion[], MissingVersion[]] = [[], []];
    let taken = 0;
    for (const change of changes) {
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
      const { layer, type, name, after } = change;
      if (after !== undefined && !resources.has(change)) added.push({ layer, type, name, version: after.version });
      else {
        const known = this.#missing.size === 0 ? undefined : this.#missing.get(placeKey(change));
        if (known !== undefined) removed.push(known);
      }
    }
    return { added, removed };
  }
}

interface MissingVersion extends MissingContent {
  readonly version: string;
}

function placeOf({ layer, type, name }: MissingContent): MissingContent {
  return { layer, type, name };
}
