import type { Transaction } from "@xdskit/protocol";
import {
  finish,
  mistake,
  type PreparedCommit,
  type ServerMachine,
  type Steps,
  type TransactionCommitted,
} from "@xdskit/protocol/internal";
import { XdsError } from "../error.ts";
import type { ApiVersionConverter } from "./api-version-converter.ts";
import type { ServerReport } from "./port.ts";

/** The parts of a commit besides resources. */
export type HubRules = Omit<TransactionCommitted, "kind" | "transaction" | "prepared">;

export interface CommitsOptions {
  readonly machine: ServerMachine;
  readonly converter: ApiVersionConverter | undefined;
  readonly take: (event: TransactionCommitted) => void;
  /** Called when clients may see something else than before. */
  readonly accessChanged: () => void;
  readonly report: (report: ServerReport) => void;
}

/** Commits what the embedding program has: resources, and the rules by which clients get them. */
export class Commits {
  readonly #options: CommitsOptions;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  /** Throws what `commit` would, at the end; changes nothing. */
  *check(transaction: Transaction): Steps<void> {
    refuseAmbiguous(yield* this.#options.machine.ambiguities(transaction));
  }

  /** Commits all of it at once. Throws what the machine throws for an invalid transaction. */
  commit(transaction: Transaction, rules: HubRules): number {
    refuseAmbiguous(finish(this.#options.machine.ambiguities(transaction)));
    return this.#convert(transaction, rules);
  }

  /** As `commit`, in steps: all of it takes effect in the last one, and little of a large transaction is left for that. */
  *commitInSteps(transaction: Transaction, rules: HubRules): Steps<number> {
    const { machine } = this.#options;
    const { revision } = machine;
    const prepared = yield* machine.prepare(transaction);
    const ambiguities = yield* machine.ambiguities(transaction);
    if (machine.revision !== revision) return this.commit(transaction, rules);
    refuseAmbiguous(ambiguities);
    return this.#convert(transaction, rules, prepared);
  }

  /** Commits without resources. */
  replace(rules: HubRules): number {
    return this.#apply(rules);
  }

  #convert(given: Transaction, rules: HubRules, prepared?: PreparedCommit): number {
    const transaction = this.#options.converter?.extend(given) ?? given;
    const isAsPrepared = prepared !== undefined && transaction === given;
    return this.#apply({ ...rules, transaction, ...(isAsPrepared && { prepared }) });
  }

  #apply(given: Omit<TransactionCommitted, "kind">): number {
    const { machine, take, accessChanged, report } = this.#options;
    const { revision: before } = machine;
    const startedAt = performance.now();
    take({ kind: "transaction-committed", ...given });
    if (given.access !== undefined || given.nodeMapping !== undefined) accessChanged();
    const { revision } = machine;
    if (revision !== before) report({ kind: "committed", revision, tookMs: performance.now() - startedAt });
    return revision;
  }
}

/** Throws if two variants of a name match the same client (S-LOC-08). */
function refuseAmbiguous(ambiguities: readonly string[]): void {
  const [first] = ambiguities;
  if (first === undefined) return;
  const problems = ambiguities.map((message) => mistake("transaction", message));
  throw new XdsError("VARIANTS_AMBIGUOUS", first, { problems });
}
