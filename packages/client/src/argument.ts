import { LONGEST_TIMER_MS } from "@xdskit/disk";
import { describeKind, nearestName } from "@xdskit/envoy-api/internal";
import { type ConfigProblem, XdsClientError, type XdsClientErrorCode } from "./error.ts";

/** Returns every problem of a value, each with its path inside that value; empty if the value is valid. */
export type Rule = (value: unknown) => readonly ConfigProblem[];

/** A rule for each field of a type; the compiler demands all of them. */
export type RulesOf<T> = Readonly<Record<keyof T, Rule>>;

/** Shared: some methods run for every request of a program, and a valid argument must cost nothing. */
const nothing: readonly ConfigProblem[] = [];

/** A rule that a predicate decides, described in a few words. */
export function rule(expected: string, holds: (value: unknown) => boolean): Rule {
  return (value) => (holds(value) ? nothing : [mistake("", `expected ${expected}, got ${describeKind(value)}`)]);
}

/**
 * An object without unknown fields; every field is optional unless it is in `needed`. `below` are the paths of fields further
 * down, for the hint at one that was given here.
 */
export function fields(
  rules: Readonly<Record<string, Rule>>,
  needed: readonly string[] = [],
  below: readonly string[] = [],
): Rule {
  const byName = new Map(Object.entries(rules));
  return (value) => {
    if (!isObject(value)) return anObject(value);
    let problems = nothing;
    for (const name in value) {
      const field = value[name];
      if (field === undefined || !Object.hasOwn(value, name)) continue;
      problems = joined(problems, name, byName.get(name)?.(field) ?? [unknownOption(name, byName.keys(), below)]);
    }
    for (const name of needed) {
      if (value[name] === undefined) problems = joined(problems, name, byName.get(name)?.(undefined) ?? nothing);
    }
    return problems;
  };
}

/** An object, or the simpler form. */
export function objectOr(simple: Rule, object: Rule): Rule {
  return (value) => (isObject(value) ? object : simple)(value);
}

/** A non-empty list, or a single value. */
export function oneOrMore(inner: Rule): Rule {
  return (value) => {
    if (!Array.isArray(value)) return inner(value);
    if (value.length === 0) return [mistake("", "expected at least one, got none")];
    return value.reduce<readonly ConfigProblem[]>((all, one, index) => joined(all, `[${index}]`, inner(one)), nothing);
  };
}

/** A value that may be undefined. */
export function optional(inner: Rule): Rule {
  return (value) => (value === undefined ? nothing : inner(value));
}

export const anObject: Rule = rule("an object", isObject);
export const aFlag: Rule = rule("true or false", (value) => typeof value === "boolean");
export const aFunction: Rule = rule("a function", (value) => typeof value === "function");
export const aList: Rule = rule("a list", Array.isArray);
export const aText: Rule = rule("a string", (value) => typeof value === "string");
export const aName: Rule = rule("a name", isName);
/** A `ServerConfig`, such as those in the client's configuration. */
export const aServer: Rule = rule("a server of a configuration", (value) => isObject(value) && isName(value["target"]));
/** An object of strings. Values are not printed: a header may be a credential. */
export const texts: Rule = (value) => {
  if (!isObject(value)) return anObject(value);
  const others = Object.entries(value).filter(([, text]) => typeof text !== "string");
  return others.map(([name, other]) => mistake(name, `expected a string, got a value of type ${typeof other}`));
};
export const aSignal: Rule = rule("an AbortSignal", (value) => value instanceof AbortSignal);
/** How long a caller waits, in milliseconds; `Infinity` is allowed. */
export const aWait: Rule = rule("milliseconds from 0 on", (value) => typeof value === "number" && value >= 0);
/** The duration of a timer, from 1; `millisecondsOr0` also allows 0 where 0 has a meaning of its own. */
export const milliseconds: Rule = wholeNumber(1, LONGEST_TIMER_MS);
export const millisecondsOr0: Rule = wholeNumber(0, LONGEST_TIMER_MS);

export function oneOf(...words: readonly string[]): Rule {
  return rule(`one of ${words.join(", ")}`, (value) => words.some((word) => word === value));
}

export function wholeNumber(least: number, most: number): Rule {
  const isWhole = (value: unknown): boolean =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
  return rule(`a whole number from ${least} to ${most}`, isWhole);
}

/**
 * Makes the check of a method's arguments, with one rule for each argument in order. The check throws one error with
 * all problems; without it, a caller without a compiler gets the answer to another question.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID`
 */
export function argumentCheck(
  method: string,
  rules: Readonly<Record<string, Rule>>,
): (...given: readonly unknown[]) => void {
  const named = Object.entries(rules);
  return (...given) => {
    let problems = nothing;
    let place = 0;
    for (const [name, own] of named) problems = joined(problems, name, own(given[place++]));
    if (problems.length > 0) throw problemsError("ARGUMENT_INVALID", method, problems);
  };
}

/** Problems of a nested value, with their paths under `name`. */
function joined(
  problems: readonly ConfigProblem[],
  name: string,
  below: readonly ConfigProblem[],
): readonly ConfigProblem[] {
  return below.length === 0 ? problems : [...problems, ...at(name, below)];
}

/** Problems of a value, with their paths under the name of the value that contains it. */
export function at(name: string, problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return problems.map((one) => {
    const isName = one.path !== "" && !one.path.startsWith("[");
    return { ...one, path: isName ? `${name}.${one.path}` : `${name}${one.path}` };
  });
}

/** One error that lists all problems in its text. */
export function problemsError(
  code: XdsClientErrorCode,
  about: string,
  problems: readonly ConfigProblem[],
): XdsClientError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const lines = errors.map((one) => {
    const text = [placeOf(one), one.message].filter((part) => part !== "").join(": ");
    return one.hint === undefined ? text : `${text} (${one.hint})`;
  });
  return new XdsClientError(code, `${about}: ${lines.join("; ")}`, { problems });
}

/** A mistake in code, which has no file or line. */
export function mistake(path: string, message: string): ConfigProblem {
  return { severity: "error", path, message };
}

function unknownOption(name: string, known: Iterable<string>, below: readonly string[]): ConfigProblem {
  const moved = below.find((path) => path.endsWith(`.${name}`));
  const hint = moved === undefined ? nearHint(name, known) : { hint: `did you mean ${JSON.stringify(moved)}?` };
  return { ...mistake("", "unknown option"), ...hint };
}

/** The hint at the likely spelling, if there is one. */
export function nearHint(text: string, known: Iterable<string>): Pick<ConfigProblem, "hint"> {
  const nearest = nearestName(text, known);
  return nearest === undefined ? {} : { hint: `did you mean ${JSON.stringify(nearest)}?` };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function placeOf({ file, line, column, path }: ConfigProblem): string {
  const parts = [file, line, column].filter((part) => part !== undefined);
  return [...parts, ...(path === "" ? [] : [parts.length === 0 ? path : ` ${path}`])].join(":");
}
