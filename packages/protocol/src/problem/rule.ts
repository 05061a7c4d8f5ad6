import { describeKind, isObject } from "./describe-kind.ts";
import { nearestName } from "./nearest-name.ts";
import type { OptionProblem } from "./problem.ts";

/** Returns every problem of a value, each with its path inside that value; empty if the value is valid. */
export type Rule = (value: unknown) => readonly OptionProblem[];

/** A rule for each field of a type; the compiler demands all of them. */
export type RulesOf<T> = Readonly<Record<keyof T, Rule>>;

/** Shared: some methods run for every request of a program, and a valid argument must cost nothing. */
const noProblems: readonly OptionProblem[] = [];

/** A rule that a predicate decides, described in a few words. */
export function rule(expected: string, holds: (value: unknown) => boolean): Rule {
  return (value) => (holds(value) ? noProblems : [mistake("", `expected ${expected}, got ${describeKind(value)}`)]);
}

/** All of these rules. */
export function every(...rules: readonly Rule[]): Rule {
  return (value) => {
    const problems = rules.flatMap((one) => one(value));
    return problems.length === 0 ? noProblems : problems;
  };
}

/** So many fields are listed in the hint at an unknown one. */
const FEW = 8;

/** What `fields` takes besides the rules of the fields. */
export interface FieldsOptions {
  /** Fields that must be given; all others are optional. */
  readonly needed?: readonly string[];
  /** Paths of fields in other places, for the hint at one that was given here. */
  readonly elsewhere?: readonly string[];
  /**
   * What a field is called in the problem of an unknown one.
   * @default "option"
   */
  readonly noun?: string;
}

/** An object without unknown fields. */
export function fields(
  rules: Readonly<Record<string, Rule>>,
  { needed = [], elsewhere = [], noun = "option" }: FieldsOptions = {},
): Rule {
  const byName = new Map(Object.entries(rules));
  const few = byName.size <= FEW ? `it may be ${[...byName.keys()].join(", ")}` : undefined;
  const unknown = (name: string): OptionProblem => {
    const meant = elsewhere.find((path) => path.endsWith(`.${name}`)) ?? nearestName(name, byName.keys());
    return mistake("", `unknown ${noun}`, meant === undefined ? few : `did you mean ${JSON.stringify(meant)}?`);
  };
  return (value) => {
    if (!isObject(value)) return anObject(value);
    let problems = noProblems;
    for (const name in value) {
      const field = value[name];
      if (field === undefined || !Object.hasOwn(value, name)) continue;
      problems = joined(problems, name, byName.get(name)?.(field) ?? [unknown(name)]);
    }
    for (const name of needed) {
      if (value[name] === undefined) problems = joined(problems, name, byName.get(name)?.(undefined) ?? noProblems);
    }
    return problems;
  };
}

/** An object, or the simpler form. */
export function objectOr(simple: Rule, object: Rule): Rule {
  return (value) => (isObject(value) ? object : simple)(value);
}

/** A list of values that obey the rule, which a single value may stand for. */
export function listOr(single: Rule, inner: Rule): Rule {
  const list = listOf(inner);
  return (value) => (Array.isArray(value) ? list : single)(value);
}

/** A list of values that obey the rule. */
export function listOf(inner: Rule): Rule {
  return (value) => {
    if (!Array.isArray(value)) return aList(value);
    let problems = noProblems;
    for (const [index, one] of value.entries()) {
      const below = inner(one);
      if (below.length > 0) problems = joined(problems, `[${index}]`, below);
    }
    return problems;
  };
}

/** A non-empty list, or a single value. */
export function oneOrMore(inner: Rule): Rule {
  const list = listOr(inner, inner);
  return (value) =>
    Array.isArray(value) && value.length === 0 ? [mistake("", "expected at least one, got none")] : list(value);
}

/** A value that may be undefined. */
export function optional(inner: Rule): Rule {
  return (value) => (value === undefined ? noProblems : inner(value));
}

/** Anything: the value is checked elsewhere. */
export const unchecked: Rule = () => noProblems;
export const anObject: Rule = rule("an object", isObject);
export const aFlag: Rule = rule("true or false", (value) => typeof value === "boolean");
export const aFunction: Rule = rule("a function", (value) => typeof value === "function");
export const aList: Rule = rule("a list", Array.isArray);
export const aText: Rule = rule("a string", (value) => typeof value === "string");
export const aName: Rule = rule("a name", (value) => typeof value === "string" && value !== "");
export const aListOfTexts: Rule = rule("a list of strings", isTexts);

/** One of these words. */
export function oneOf(...words: readonly string[]): Rule {
  return rule(`one of ${words.join(", ")}`, (value) => words.some((word) => word === value));
}

/** A whole number in a range, bounds included. */
export function wholeNumber(least: number, most: number): Rule {
  const isWhole = (value: unknown): boolean =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
  return rule(`a whole number from ${least} to ${most}`, isWhole);
}

/** Problems of several named values, each value judged by the rule of its name. */
export function problemsIn(
  rules: readonly (readonly [name: string, rule: Rule])[],
  given: readonly unknown[],
): readonly OptionProblem[] {
  let problems = noProblems;
  let place = 0;
  for (const [name, own] of rules) problems = joined(problems, name, own(given[place++]));
  return problems;
}

/** Problems of a nested value, with their paths under `name`. */
function joined(
  problems: readonly OptionProblem[],
  name: string,
  below: readonly OptionProblem[],
): readonly OptionProblem[] {
  return below.length === 0 ? problems : [...problems, ...at(name, below)];
}

/** Problems of a value, with their paths under the name of the value that contains it. */
export function at<T extends OptionProblem>(name: string, problems: readonly T[]): readonly T[] {
  return problems.map((one) => {
    const isField = one.path !== "" && !one.path.startsWith("[");
    return { ...one, path: isField ? `${name}.${one.path}` : `${name}${one.path}` };
  });
}

/** A mistake in what a program passed. */
export function mistake(path: string, message: string, hint?: string): OptionProblem {
  return { severity: "error", path, message, ...(hint !== undefined && { hint }) };
}

/** Whether a value is a list of strings. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
