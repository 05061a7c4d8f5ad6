import type { ProblemList } from "../format/problem-list.ts";

/** Adds a problem if a value violates a rule. */
export type ValueCheck = (value: unknown, problems: ProblemList) => void;

/**
 * The lengths at which a value violates no rule, whatever it holds: text and bytes in bytes, lists and maps in
 * elements.
 */
export interface LengthBounds {
  readonly least: number;
  readonly most: number;
}

/** No rule. */
export const anyLength: LengthBounds = { least: 0, most: Number.POSITIVE_INFINITY };

/** The length alone does not decide. */
export const noLength: LengthBounds = { least: Number.POSITIVE_INFINITY, most: 0 };

/** The rules of one field in the descriptor; unset ones are undefined. */
export type RuleValues = Readonly<Record<string, unknown>>;

/** Returns the value of a rule if the descriptor sets it, not a default. */
export function ruleValue(rules: RuleValues, name: string): unknown {
  return Object.hasOwn(rules, name) ? rules[name] : undefined;
}

/** Returns a repeated rule; undefined if it is empty. */
export function ruleList(rules: RuleValues, name: string): readonly unknown[] | undefined {
  const list = rules[name];
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

/** Returns a 64-bit rule as a number, because no length needs more. */
export function ruleCount(rules: RuleValues, name: string): number | undefined {
  const value = ruleValue(rules, name);
  return typeof value === "bigint" ? Number(value) : undefined;
}
