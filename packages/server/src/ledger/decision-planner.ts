import { messageNameOf, type Resource, type TypeUrl } from "@xdskit/protocol";
import {
  type EntryChange,
  type FuseTrip,
  type HeldRecord,
  type LedgerEffect,
  type LedgerRecord,
  type LedgerState,
  type Placement,
  type Reversal,
  reverseTo,
  type Steps,
  type TypeKind,
} from "@xdskit/protocol/internal";
import type { MissingContent } from "../hub/missing-resources.ts";
import type { Slices } from "../slices.ts";
import type { AffectedNodesOptions } from "./affected-nodes.ts";
import type { EmptiedFuse } from "./emptied-fuse.ts";
import type { ResourceChanges } from "./entries.ts";
import type { HeldContent } from "./held-content.ts";
import { isChange } from "./history.ts";
import type { StateInForce } from "./in-force.ts";
import { applied, authorOf, noResourceChanges, type OperationPlan, refuse, unchanged } from "./operation-plan.ts";
import { type ChangePlan, planOf } from "./plan.ts";
import type { Authorship, Decision, RollbackOptions } from "./publication.ts";
import { recordsOf } from "./retention.ts";
import { withReturningDeletions } from "./returning-deletions.ts";
import type { LedgerStore } from "./store.ts";

export interface DecisionPlannerOptions extends AffectedNodesOptions {
  readonly store: LedgerStore;
  readonly kindOf: (type: TypeUrl) => TypeKind;
  readonly inForce: StateInForce;
  readonly content: HeldContent;
  readonly emptied: EmptiedFuse;
  /** Which fuses a change trips. */
  readonly judge: (change: LedgerEffect, state: LedgerState) => Steps<readonly FuseTrip[]>;
  readonly slices: Slices;
}

/** What a decision puts in force. */
interface PreparedDecision {
  readonly kind: "prepared";
  readonly made: ResourceChanges;
  readonly placement: Placement | undefined;
  readonly irretrievable: readonly MissingContent[];
  /** The fuses that hold it, or that stop a rollback. */
  readonly trips: readonly FuseTrip[];
}

/** Why a decision cannot be made. */
interface RefusedDecision {
  readonly kind: "refused";
  readonly reason: string;
}

/** Plans the decisions of operators. Records nothing, and nothing comes in force. */
export class DecisionPlanner {
  readonly #options: DecisionPlannerOptions;

  constructor(options: DecisionPlannerOptions) {
    this.#options = options;
  }

  /** Puts the held change `number` in force. */
  async approval(number: number, by: Authorship, state: LedgerState): Promise<OperationPlan> {
    const prepared = await this.#prepareApproval(number, state);
    if (prepared.kind === "refused") return refuse(prepared.reason);
    const isLive = number !== state.held?.number;
    return {
      records: [{ kind: "approved", of: number, ...(isLive && { isLive }), ...authorOf(by) }],
      resources: [],
      effect: { changes: prepared.made, placement: prepared.placement },
      result: applied,
    };
  }

  /** Drops the held change `number`. */
  rejection(number: number, by: Authorship, { held }: LedgerState): OperationPlan {
    if (held?.number !== number) return refuse(notHeld(number, held));
    return { records: [{ kind: "rejected", of: number, ...authorOf(by) }], resources: [], result: applied };
  }

  /**
   * Brings back everything but live data as it was at a number, and pins what that takes away. Live data comes back if
   * something that is brought back refers to it, and it was deleted since.
   */
  async rollback(to: number, { isForced, ...by }: RollbackOptions, state: LedgerState): Promise<OperationPlan> {
    const prepared = await this.#prepareRollback(to, state);
    if (prepared.kind === "refused") return refuse(prepared.reason);
    const { made, placement, irretrievable, pins, trips } = prepared;
    if (trips.length > 0 && isForced !== true) return refuse(stoppedBy(trips), trips);
    const { changes, resources } = made;
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
  }

  /** What a decision would do if it were made now. Changes nothing. */
  async preview(decision: Decision, number: number, state: LedgerState): Promise<ChangePlan> {
    const prepared = await this.#prepare(decision, number, state);
    const isRefused = prepared.kind === "refused";
    const { made, placement, irretrievable, trips } = isRefused ? nothingPrepared : prepared;
    const isEmpty = made.changes.length === 0 && placement === undefined;
    const isStopped = decision === "rollback" && trips.length > 0;
    return {
      head: this.#options.inForce.number,
      result: isRefused || isStopped ? "refused" : isEmpty ? "unchanged" : "applied",
      reason: isRefused ? prepared.reason : isStopped ? stoppedBy(trips) : undefined,
      trips,
      irretrievable,
      ...planOf({ changes: made, placement }, state, this.#options),
    };
  }

  async #prepare(decision: Decision, number: number, state: LedgerState): Promise<PreparedDecision | RefusedDecision> {
    if (decision === "approve") return await this.#prepareApproval(number, state);
    if (decision === "rollback") return await this.#prepareRollback(number, state);
    if (state.held?.number !== number) return refused(notHeld(number, state.held));
    return { ...nothingPrepared, trips: state.held.trips };
  }

  async #prepareApproval(number: number, state: LedgerState): Promise<PreparedDecision | RefusedDecision> {
    const { held } = state;
    const emptied = state.emptiedBy(number);
    if (emptied.length > 0) return await this.#prepareEmptied(emptied);
    if (held?.number !== number) return refused(notHeld(number, held));
    const { changes, placement } = held;
    const resources = await this.#options.content.ofHeld(held);
    const made = { changes, resources };
    const problem = lostIn(changes, resources) ?? (await this.#problemWith(made, placement));
    if (problem !== undefined) return refused(problem);
    return { kind: "prepared", made, placement, irretrievable: [], trips: held.trips };
  }

  async #prepareEmptied(changes: readonly EntryChange[]): Promise<PreparedDecision | RefusedDecision> {
    const { content, emptied } = this.#options;
    const made = { changes, resources: await content.of(changes) };
    const problem = lostIn(changes, made.resources) ?? (await this.#problemWith(made, undefined));
    if (problem !== undefined) return refused(problem);
    return { kind: "prepared", made, placement: undefined, irretrievable: [], trips: emptied.tripsOf(changes) };
  }

  async #prepareRollback(
    to: number,
    state: LedgerState,
  ): Promise<(PreparedDecision & Pick<Reversal, "pins">) | RefusedDecision> {
    const { store, kindOf, content, judge, slices } = this.#options;
    const records: LedgerRecord[] = [];
    for await (const record of recordsOf(store)) if (record.kind !== "live") records.push(record);
    const noChange = whyNoChange(to, records, store.completeAfter);
    if (noChange !== undefined && to <= state.number) return refused(noChange);
    const reversal = reverseTo(state, { to, records, completeAfter: store.completeAfter, kindOf });
    if (reversal.kind === "refused") return refused(reversal.reason);
    const { pins, placement } = reversal;
    const reversed = { changes: reversal.changes, resources: await content.of(reversal.changes) };
    const completed = await withReturningDeletions(reversed, to, state, (changes) => content.of(changes));
    const { made } = completed;
    const { changes, resources } = made;
    const irretrievable = [...reversal.irretrievable, ...completed.irretrievable];
    const isEmpty = changes.length === 0 && placement === undefined;
    if (isEmpty && irretrievable.length > 0) return refused(`${to} had only what holds a secret, which is not kept`);
    const problem = lostIn(changes, resources) ?? (isEmpty ? undefined : await this.#problemWith(made, placement));
    if (problem !== undefined) return refused(problem);
    const effect = { changes, ...(placement !== undefined && { placement }) };
    const trips = isEmpty ? [] : await slices.finish(judge(effect, state));
    // A rollback may bring back what another one took back.
    const stopping = trips.filter(({ fuse }) => fuse !== "pinned");
    return { kind: "prepared", made, placement, pins, irretrievable, trips: stopping };
  }

  #problemWith(made: ResourceChanges, placement: Placement | undefined): Promise<string | undefined> {
    return this.#options.inForce.check({ changes: made, placement });
  }
}

const nothingPrepared: PreparedDecision = {
  kind: "prepared",
  made: noResourceChanges,
  placement: undefined,
  irretrievable: [],
  trips: [],
};

/** Why changes cannot be put in force without the content of one of their resources. */
function lostIn(changes: readonly EntryChange[], resources: ReadonlyMap<EntryChange, Resource>): string | undefined {
  const lost = changes.find((change) => change.after !== undefined && !resources.has(change));
  return lost && `the content of ${messageNameOf(lost.type)} "${lost.name}" is not kept: publish it again`;
}

/** Why a rollback cannot go to a number: nothing else than live data changed with it, or nothing at all. */
function whyNoChange(to: number, records: readonly LedgerRecord[], completeAfter: number): string | undefined {
  // Of live data no record is kept behind a snapshot, and of what comes before nothing is known here.
  if (to !== 0 && (to <= completeAfter || records.some(({ number }) => number === to))) return undefined;
  const changes = records.filter(isChange).map(({ number }) => number);
  const near = [changes.findLast((number) => number < to), changes.find((number) => number > to)];
  const usable = near.filter((number) => number !== undefined).join(" or ");
  const use = usable === "" ? "" : `: use ${usable}`;
  if (to === 0) return `nothing was in force at 0${use}`;
  return `${to} is of live data, which a rollback leaves as it is${use}`;
}

function stoppedBy(trips: readonly FuseTrip[]): string {
  return `a fuse stops this rollback: ${trips.map(({ message }) => message).join("; ")}`;
}

function refused(reason: string): RefusedDecision {
  return { kind: "refused", reason };
}

function notHeld(number: number, held: HeldRecord | undefined): string {
  return `${number} is not held; ${held === undefined ? "nothing is" : `${held.number} is`}`;
}
