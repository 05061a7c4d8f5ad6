import type { LedgerRecord } from "@xdskit/protocol/internal";
import type { Slices } from "../slices.ts";
import type { EntryMaker } from "./entries.ts";
import type { HeldLease } from "./lease.ts";
import type { LedgerReader } from "./ledger-reader.ts";
import type { PlannedOperation, Unrecorded } from "./operation-performer.ts";
import { type NewRecord, refuse } from "./operation-plan.ts";
import type { Operation } from "./operation-queue.ts";
import type { PublicationPlanner } from "./publication-planner.ts";
import type { Compactor } from "./retention.ts";
import type { AppendResult, LedgerStore } from "./store.ts";
import type { StoreStatus } from "./store-status.ts";
import { stringify } from "./stringify.ts";

/** How often operations are planned again because another process was first. */
const MOST_CONFLICTS = 20;

export interface OperationRecorderOptions {
  readonly store: LedgerStore;
  readonly status: StoreStatus;
  readonly reader: LedgerReader;
  readonly entries: EntryMaker;
  /** Whose plans are not true any more when one of them is not recorded. */
  readonly publications: Pick<PublicationPlanner, "begin" | "forgetLast">;
  readonly compactor: Compactor;
  readonly slices: Slices;
  /** Called if records cannot be written. */
  readonly onProblem: (message: string) => void;
}

/** What became of operations that were to be recorded together; those that cannot be planned are not among them. */
export type RecordedGroup =
  | {
      readonly kind: "planned";
      readonly planned: readonly PlannedOperation[];
      /** Undefined: their records are durable. */
      readonly unrecorded: Unrecorded | undefined;
    }
  /** Nothing can be recorded for now. */
  | { readonly kind: "away"; readonly operations: readonly Operation[]; readonly reason: string };

/** Operations that are planned one upon the other, and what they append together. */
interface PlannedGroup {
  readonly planned: PlannedOperation[];
  readonly records: LedgerRecord[];
  readonly bodies: Map<string, Uint8Array>;
  lease: HeldLease | undefined;
}

/** Plans operations upon what the store has, and makes their records durable. */
export class OperationRecorder {
  readonly #options: OperationRecorderOptions;

  constructor(options: OperationRecorderOptions) {
    this.#options = options;
  }

  /** Plans operations one upon the other, and records them together; again if another process was first. */
  async record(given: readonly Operation[]): Promise<RecordedGroup> {
    const { status, publications } = this.#options;
    let operations = given;
    for (let conflicts = 0; ; conflicts++) {
      await status.read();
      if (status.away !== undefined) return { kind: "away", operations, reason: status.away };
      publications.begin();
      const group = await this.#plan(operations);
      const { planned } = group;
      const unrecorded = group.records.length === 0 ? undefined : await this.#append(group);
      if (!this.#isWorthAgain(unrecorded) || conflicts === MOST_CONFLICTS)
        return { kind: "planned", planned, unrecorded };
      operations = planned.map(({ operation }) => operation);
    }
  }

  /** Whether another process was first, so that the same can be asked again upon what it wrote. */
  #isWorthAgain(unrecorded: Unrecorded | undefined): boolean {
    return unrecorded?.kind === "raced" && this.#options.store.refresh !== undefined;
  }

  async #plan(operations: readonly Operation[]): Promise<PlannedGroup> {
    const { status, reader, entries, publications } = this.#options;
    const { unapplied } = status;
    const group: PlannedGroup = { planned: [], records: [], bodies: new Map(), lease: undefined };
    for (const operation of operations) {
      try {
        const plan = unapplied === undefined ? await operation.plan(reader.state) : refuse(unapplied);
        const own: LedgerRecord[] = [];
        for (const record of plan.records) own.push(await this.#fold(record, group.records));
        await entries.addBodies(plan.resources, group.bodies);
        if (own.length > 0) group.lease ??= plan.lease;
        group.planned.push({ operation, plan, records: own });
      } catch (cause) {
        publications.forgetLast();
        operation.fail(cause);
      }
    }
    return group;
  }

  /** Numbers a record and takes it into the state. */
  async #fold(record: NewRecord, into: LedgerRecord[]): Promise<LedgerRecord> {
    const { reader } = this.#options;
    const numbered = { ...record, number: reader.state.number + 1, time: Date.now() } as LedgerRecord;
    await reader.fold(numbered);
    into.push(numbered);
    return numbered;
  }

  /** Appends the records; returns why they are not, and then the state is again what the store has. */
  async #append(group: PlannedGroup): Promise<Unrecorded | undefined> {
    const { store, status, reader, publications, compactor, slices, onProblem } = this.#options;
    const { records } = group;
    const appended = await this.#offer(group);
    if (appended.kind === "appended") {
      reader.appended(appended.head);
      for (const record of records) compactor.count(record);
      await compactor.compactIfDue(reader.state, slices);
      return undefined;
    }
    const isShared = store.refresh !== undefined;
    const kind = appended.kind !== "unavailable" ? "raced" : isShared ? "away" : "failed";
    const unrecorded = { kind, reason: whyNot(appended) } as const;
    // Several processes may write: that another was first is no problem.
    if (kind !== "raced" || !isShared) onProblem(unrecorded.reason);
    else await store.refresh?.().catch(() => undefined);
    publications.forgetLast();
    reader.notAppended();
    if (kind === "failed") await status.read();
    return unrecorded;
  }

  /** A store that rejects may have appended or not: what it has is read again, as if it had been away. */
  async #offer({ records, bodies, lease }: PlannedGroup): Promise<AppendResult> {
    const { store, reader, slices } = this.#options;
    try {
      const texts: string[] = [];
      for (const record of records) texts.push(await stringify(record, slices));
      return await store.append(reader.head, { records: texts, bodies, lease });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      return { kind: "unavailable", reason: `the store of the ledger failed: ${why}` };
    }
  }
}

function whyNot(result: Exclude<AppendResult, { readonly kind: "appended" }>): string {
  if (result.kind === "unavailable") return result.reason;
  return result.kind === "conflict" ? "another process wrote to the ledger" : "another process publishes now";
}
