import type { Commit, Transaction } from "@xdskit/protocol";
import { at, fields, isObject, type OptionProblem, type Rule, type RulesOf, rule } from "@xdskit/protocol/internal";
import { accessOfCommit } from "./access-rules.ts";
import { choiceOf } from "./check-options.ts";
import { type AccessOptions, readAccess } from "./hub/access.ts";
import type { HubRules } from "./hub/commits.ts";
import { aNodeMapping, clientOverrides } from "./node-rules.ts";
import { ofTransaction } from "./transaction-rules.ts";

/** The parts of a commit besides resources. */
export type CommitRules = Pick<Commit, "nodeMapping" | "access" | "clientOverrides">;

/** What the meaning of access rules depends on. */
export type RulesContext = Omit<AccessOptions, "access">;

export interface CheckedCommit {
  readonly transaction: Transaction;
  readonly rules: HubRules;
}

interface Invalid {
  readonly problems: readonly OptionProblem[];
}

const ofRules: RulesOf<CommitRules> = { nodeMapping: aNodeMapping, access: accessOfCommit, clientOverrides };
const ofCommit: RulesOf<Commit> = { ...ofTransaction, ...ofRules };
const aCommit: Rule = fields(ofCommit, { needed: ["changes"] });
const rulesOfCommit: Rule = fields(ofRules);

/** Checks a commit as a whole before any of it takes effect. */
export function readCommit(given: Commit, context: RulesContext): CheckedCommit | Invalid {
  if (!isObject(given)) return { problems: at("transaction", rule("{ changes: [...] }", () => false)(given)) };
  const shape = aCommit(given);
  const compiled = compileRules(given, shape, context);
  const problems = [...shape, ...("problems" in compiled ? compiled.problems : [])];
  if (problems.length > 0 || "problems" in compiled) return { problems };
  const { changes, systemVersion } = given;
  return { transaction: { changes, ...(systemVersion !== undefined && { systemVersion }) }, rules: compiled };
}

/** Checks node mapping, access rules and client overrides, and compiles those that are given. */
export function readRules(given: CommitRules, context: RulesContext): HubRules | Invalid {
  const shape = rulesOfCommit(given);
  const compiled = compileRules(given, shape, context);
  const problems = [...shape, ...("problems" in compiled ? compiled.problems : [])];
  return problems.length > 0 ? { problems } : compiled;
}

/** Compiles the rules; access rules of the wrong shape, which is among `problems`, are left out. */
function compileRules(
  { nodeMapping, access, clientOverrides: overrides }: CommitRules,
  problems: readonly OptionProblem[],
  context: RulesContext,
): HubRules | Invalid {
  const isReadable = !problems.some(({ path }) => path.startsWith("access"));
  const rules = access === "default" ? undefined : access;
  const policy = access === undefined || !isReadable ? undefined : readAccess({ access: rules, ...context });
  if (policy !== undefined && "problems" in policy) return policy;
  return {
    ...(nodeMapping !== undefined && { nodeMapping }),
    ...(policy !== undefined && { access: policy }),
    ...(problems.length === 0 && overrides !== undefined && { clients: choiceOf(overrides) ?? nobody }),
  };
}

/** The choice without overrides. */
const nobody = (): undefined => undefined;
