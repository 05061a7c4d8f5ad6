import type { EntryChange, HeldRecord, LedgerRecord } from "@xdskit/protocol/internal";
import type { Slices } from "../slices.ts";
import { joinChanges } from "./entries.ts";
import { isChange, isInForce } from "./history.ts";
import type { StateInForce } from "./in-force.ts";
import { noResourceChanges, type OperationPlan } from "./operation-plan.ts";
import type { Operation } from "./operation-queue.ts";

/** An operation, and the records that it is to make. */
export interface PlannedOperation {
  readonly operation: Operation;
  readonly plan: OperationPlan;
  readonly records: readonly LedgerRecord[];
}

/** Why records were not appended. */
export interface Unrecorded {
  /** `away`: the engine of a shared store, which comes back. */
  readonly kind: "raced" | "away" | "failed";
  readonly reason: string;
}

export interface OperationPerformerOptions {
  readonly inForce: StateInForce;
  readonly slices: Slices;
  /** Called with each record that is in force, and what it changes. */
  readonly onRecorded: (record: LedgerRecord, changes: readonly EntryChange[]) => void;
  /** Called if what is recorded cannot be put in force. */
  readonly onProblem: (message: string) => void;
}

/** Puts operations in force once their records are durable, and answers them, also those that cannot be recorded. */
export class OperationPerformer {
  readonly #options: OperationPerformerOptions;

  constructor(options: OperationPerformerOptions) {
    this.#options = options;
  }

  /** While the engine is away nothing is recorded, and only live data is sent. */
  async flow(operations: readonly Operation[], reason: string): Promise<void> {
    for (const { live, settle, fail } of operations) {
      try {
        if (live !== undefined) await this.#options.inForce.putUnrecorded(await live());
        settle({ kind: "unavailable", reason });
      } catch (cause) {
        fail(cause);
      }
    }
  }

  /** Performs what was planned together. `held`: the change that is held once that is recorded. */
  async performAll(
    planned: readonly PlannedOperation[],
    unrecorded: Unrecorded | undefined,
    held: HeldRecord | undefined,
  ): Promise<void> {
    if (unrecorded === undefined) await this.#performRecorded(planned, held);
    else await this.#performUnrecorded(planned, unrecorded);
  }

  async #performRecorded(planned: readonly PlannedOperation[], held: HeldRecord | undefined): Promise<void> {
    let live: PlannedOperation[] = [];
    for (const one of planned) {
      if (isLive(one)) {
        live.push(one);
        continue;
      }
      await this.#performLive(live, held);
      live = [];
      await this.#perform(one, held);
    }
    await this.#performLive(live, held);
  }

  /** What was planned upon a change that is not recorded is not true either. */
  async #performUnrecorded(planned: readonly PlannedOperation[], { kind, reason }: Unrecorded): Promise<void> {
    const { held } = this.#options.inForce;
    let isLost = false;
    for (const one of planned) {
      const { operation, plan } = one;
      isLost ||= one.records.length > 0;
      if (!isLost) await this.#perform(one, held);
      else if (kind === "away")
        await this.flow([{ ...operation, live: plan.live ?? (() => noResourceChanges) }], reason);
      else operation.settle({ kind: "refused", reason });
    }
  }

  /** `held`: the change that is held then. */
  async #perform(one: PlannedOperation, held: HeldRecord | undefined): Promise<void> {
    const { inForce } = this.#options;
    const { effect } = one.plan;
    await this.#answer(one, held, () => (effect === undefined ? inForce.revision : inForce.put(effect)));
  }

  /** Performs changes of live data by one commit. */
  async #performLive(live: readonly PlannedOperation[], held: HeldRecord | undefined): Promise<void> {
    const revision = live.length > 1 ? await this.#putTogether(live) : undefined;
    for (const one of live) {
      if (revision === undefined) await this.#perform(one, held);
      else await this.#answer(one, held, () => revision);
    }
  }

  /** Undefined: one of them cannot be put in force, which must not keep the others back. */
  async #putTogether(live: readonly PlannedOperation[]): Promise<number | undefined> {
    const { inForce, slices } = this.#options;
    try {
      const changes = await slices.finish(joinChanges(live.flatMap(({ plan }) => plan.effect?.changes ?? [])));
      return await inForce.put({ changes, placement: undefined });
    } catch {
      return undefined;
    }
  }

  /** Answers an operation once it is in force; `put` returns the revision by which it is. */
  async #answer(
    { operation, plan, records }: PlannedOperation,
    held: HeldRecord | undefined,
    put: () => Promise<number> | number,
  ): Promise<void> {
    const { inForce, onRecorded, onProblem } = this.#options;
    try {
      const revision = await put();
      inForce.setHeld(held);
      for (const record of records) {
        inForce.reached(record.number - 1, record.number, revision);
        const approved = record.kind === "approved" ? (plan.effect?.changes.changes ?? []) : [];
        onRecorded(record, "changes" in record ? record.changes : approved);
      }
      const made = records.findLast(isInForce);
      const stable = records.findLast(isChange);
      if (plan.effect !== undefined && made !== undefined) inForce.changed(made.number, revision, stable?.number);
      operation.settle(plan.result(records.at(-1)?.number ?? inForce.number, revision));
    } catch (cause) {
      inForce.setHeld(held);
      const why = cause instanceof Error ? cause.message : String(cause);
      if (records.length > 0) onProblem(`what is recorded cannot be put in force: ${why}`);
      operation.fail(cause);
    }
  }
}

/** Whether an operation changes live data, and nothing else. */
function isLive({ plan, records }: PlannedOperation): boolean {
  return plan.effect?.placement === undefined && records.length === 1 && records[0]?.kind === "live";
}
