import type { AccessFunction, AccessRules, Commit, Transaction } from "@xdskit/protocol";
import { choiceOf, findClientProblems } from "./check-options.ts";
import type { OptionProblem } from "./error.ts";
import { type AccessOptions, readAccess } from "./hub/access.ts";
import type { HubRules } from "./hub/hub.ts";
import { findMappingProblems } from "./node-match-check.ts";
import { describeKind, hasFields, kinds } from "./option-kinds.ts";
import { findTransactionProblems } from "./transaction-shape.ts";

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

/** Every part of a commit; a missing one fails to compile. */
const namesOfCommit: Readonly<Record<keyof Commit, true>> = {
  ...{ changes: true, systemVersion: true },
  ...{ nodeMapping: true, access: true, clientOverrides: true },
};

/** Checks a commit as a whole before any of it takes effect. */
export function readCommit(given: Commit, context: RulesContext): CheckedCommit | Invalid {
  if (!hasFields(given))
    return { problems: [{ path: "transaction", message: `expected { changes: [...] }, got ${describeKind(given)}` }] };
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(namesOfCommit, name));
  const expected = `expected one of ${Object.keys(namesOfCommit).join(", ")}`;
  const rules = readRules(given, context);
  const problems: readonly OptionProblem[] = [
    ...unknown.map((path) => ({ path, message: expected })),
    ...findTransactionProblems(given),
    ...("problems" in rules ? rules.problems : []),
  ];
  if (problems.length > 0 || "problems" in rules) return { problems };
  const { changes, systemVersion } = given;
  return { transaction: { changes, ...(systemVersion !== undefined && { systemVersion }) }, rules };
}

/** Checks node mapping, access rules and client overrides, and compiles those that are given. */
export function readRules(
  { nodeMapping, access, clientOverrides }: CommitRules,
  context: RulesContext,
): HubRules | Invalid {
  const shape = [
    ...(nodeMapping === undefined ? [] : findMappingProblems(nodeMapping)),
    ...(access === undefined || access === "default" ? [] : findAccessProblems(access)),
    ...(clientOverrides === undefined ? [] : findOverrideProblems(clientOverrides)),
  ];
  const isReadable = !shape.some(({ path }) => path.startsWith("access"));
  const rules = access === "default" ? undefined : access;
  const policy = access === undefined || !isReadable ? undefined : readAccess({ access: rules, ...context });
  const problems = policy !== undefined && "problems" in policy ? [...shape, ...policy.problems] : shape;
  if (problems.length > 0) return { problems };
  return {
    ...(nodeMapping !== undefined && { nodeMapping }),
    ...(policy !== undefined && !("problems" in policy) && { access: policy }),
    ...(clientOverrides !== undefined && { clients: choiceOf(clientOverrides) ?? nobody }),
  };
}

/** The choice without overrides. */
const nobody = (): undefined => undefined;

function findOverrideProblems(clients: NonNullable<Commit["clientOverrides"]>): readonly OptionProblem[] {
  const kind = kinds.functionOrList;
  if (kind.holds(clients)) return findClientProblems(clients);
  return [{ path: "clientOverrides", message: `expected ${kind.expected}, got ${describeKind(clients)}` }];
}

const LISTS = ["identities", "entryPoints", "nodes", "clusters", "layers", "types", "names"] as const;

/** Finds values of the wrong kind, so that the rules can be compiled, which finds the other mistakes. */
function findAccessProblems(access: AccessRules | AccessFunction): readonly OptionProblem[] {
  if (typeof access === "function") return [];
  const { rules } = hasFields(access) ? access : { rules: undefined };
  if (!kinds.listOfObjects.holds(rules))
    return [
      { path: "access", message: `expected "default", { rules: [...] } or a function, got ${describeKind(access)}` },
    ];
  return (rules as AccessRules["rules"]).flatMap((rule, index) => [
    ...LISTS.flatMap((key) => {
      const list: unknown = rule[key];
      if (kinds.texts.holds(list) || (list === undefined && key !== "identities")) return [];
      return [
        { path: `access.rules.${index}.${key}`, message: `expected a list of strings, got ${describeKind(list)}` },
      ];
    }),
    ...Object.entries(rule.metadata ?? {}).flatMap(([field, pattern]: [string, unknown]) => {
      if (typeof pattern === "string") return [];
      const message = `expected a string, got ${describeKind(pattern)}`;
      return [{ path: `access.rules.${index}.metadata.${field}`, message }];
    }),
  ]);
}
