import type { ProblemList } from "../format/problem-list.ts";

/** Adds a problem if a value breaks a rule. */
export type ValueCheck = (value: unknown, problems: ProblemList) => void;

/** How long something may be without breaking a rule, whatever is in it: text and bytes in bytes, lists and maps in elements. */
export interface LengthBounds {
  readonly least: number;
  readonly most: number;
}

/** Nothing is demanded. */
export const anyLength: LengthBounds = { least: 0, most: Number.POSITIVE_INFINITY };

/** The length alone does not tell. */
export const noLength: LengthBounds = { least: Number.POSITIVE_INFINITY, most: 0 };

/** The rules of one field as the descriptor has them: those that are not set are undefined. */
export type RuleValues = Readonly<Record<string, unknown>>;

/** A rule's value if it is set in the descriptor, and not a default. */
export function ruleValue(rules: RuleValues, name: string): unknown {
  return Object.hasOwn(rules, name) ? rules[name] : undefined;
}

/** A repeated rule; undefined if it is empty. */
export function ruleList(rules: RuleValues, name: string): readonly unknown[] | undefined {
  const list = rules[name];
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

/** The whole-number rules are 64 bits wide; no length is. */
export function ruleCount(rules: RuleValues, name: string): number | undefined {
  const value = ruleValue(rules, name);
  return typeof value === "bigint" ? Number(value) : undefined;
}
