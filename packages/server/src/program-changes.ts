import type { Commit, NodeMapping, Transaction, TypeUrl } from "@xdskit/protocol";
import { describeProblems } from "@xdskit/protocol/internal";
import { type CheckedOptions, everyNodeSeesBase } from "./check-options.ts";
import { type CommitRules, type RulesContext, readCommit, readRules } from "./commit-check.ts";
import { optionsError, type ResourceProblem, XdsError } from "./error.ts";
import type { Hub } from "./hub/hub.ts";
import type { ChangeTraces } from "./observe/change-traces.ts";
import { type ChangeResult, ResourceLayers, type ResourceList, type Update } from "./state/resource-layers.ts";
import { StateCheck, unseenLayer } from "./state/state-check.ts";

export interface ProgramChangesParts {
  readonly hub: Hub;
  readonly traces: ChangeTraces;
  readonly rulesContext: RulesContext;
}

/** The changes that an embedding program makes without a ledger: each is checked, traced and committed at once. */
export class ProgramChanges {
  readonly #hub: Hub;
  readonly #traces: ChangeTraces;
  readonly #rulesContext: RulesContext;
  readonly #layers: ResourceLayers;
  readonly #check: StateCheck;
  #nodeMapping: NodeMapping;

  constructor({ api, validation, nodeMapping }: CheckedOptions, { hub, traces, rulesContext }: ProgramChangesParts) {
    this.#hub = hub;
    this.#traces = traces;
    this.#rulesContext = rulesContext;
    this.#layers = new ResourceLayers({ api, validation }, hub);
    this.#check = new StateCheck(api);
    this.#nodeMapping = nodeMapping;
  }

  /** Replaces the resources of a layer. */
  set(layer: string, resources: ResourceList): ChangeResult {
    return this.#traces.plain({ kind: "set", typesOf: typesChanged }, () => this.#layers.set(layer, resources));
  }

  /** Applies all changes of the callback together. */
  update(change: (update: Update) => unknown): ChangeResult {
    return this.#traces.plain({ kind: "update", typesOf: typesChanged }, () => this.#layers.update(change));
  }

  /** Checks all resources of `set` and `update`. */
  check(): readonly ResourceProblem[] {
    const unseen = this.#nodeMapping === everyNodeSeesBase ? this.#layers.namesBeside("base") : [];
    return [...unseen.map(unseenLayer), ...this.#check.find(this.#layers.entries())];
  }

  /** Applies changes of resources and rules as a whole; returns the revision. */
  commit(given: Commit): number {
    const commit = readCommit(given, this.#rulesContext);
    if ("problems" in commit) {
      const { problems } = commit;
      throw new XdsError("TRANSACTION_INVALID", describeProblems("nothing was committed", problems), { problems });
    }
    const { transaction, rules } = commit;
    const typesOf = (): TypeUrl[] | undefined => (Object.keys(rules).length === 0 ? typesIn(transaction) : undefined);
    const revision = this.#traces.plain({ kind: "commit", typesOf }, () => this.#hub.commit(transaction, rules));
    this.#nodeMapping = given.nodeMapping ?? this.#nodeMapping;
    return revision;
  }

  /** A commit without resources, which makes the server no more ready than it is. */
  replace(given: CommitRules): number {
    const rules = readRules(given, this.#rulesContext);
    if ("problems" in rules) throw optionsError(rules.problems);
    const change = { kind: "rules", typesOf: () => undefined } as const;
    const revision = this.#traces.plain(change, () => this.#hub.replace(rules));
    this.#nodeMapping = given.nodeMapping ?? this.#nodeMapping;
    return revision;
  }
}

function typesChanged({ changed }: ChangeResult): TypeUrl[] {
  return changed.map(({ type }) => type);
}

function typesIn({ changes }: Transaction): TypeUrl[] {
  return changes.flatMap(({ puts = [], deletes = [] }) => [...puts, ...deletes].map(({ type }) => type));
}
