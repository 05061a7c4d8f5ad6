import { type ConfigProblem, XdsClientError, type XdsClientErrorCode } from "./error.ts";
import { LONGEST_TIMER_MS } from "./longest-timer.ts";

/** Says all that is wrong with a value that stands at a path; nothing, if it is what it has to be. */
export type Rule = (value: unknown, path: string) => readonly ConfigProblem[];

/** A rule for each field of something, so that none is forgotten. */
export type RulesOf<T> = Readonly<Record<keyof T, Rule>>;

/** A rule that is said in a few words. */
export function rule(expected: string, holds: (value: unknown) => boolean): Rule {
  return (value, path) => (holds(value) ? [] : [mistake(path, `expected ${expected}, got ${shown(value)}`)]);
}

/** An object with fields that may be left out, but for those that are needed, and no others. */
export function fields(rules: Readonly<Record<string, Rule>>, needed: readonly string[] = []): Rule {
  return (value, path) => {
    if (!isObject(value)) return anObject(value, path);
    const given = Object.entries(value).filter(([, field]) => field !== undefined);
    const missing = needed.filter((name) => value[name] === undefined).map((name) => [name, undefined] as const);
    return [...given, ...missing].flatMap(([name, field]) => {
      const at = path === "" ? name : `${path}.${name}`;
      const own = Object.hasOwn(rules, name) ? rules[name] : undefined;
      return own === undefined ? [mistake(at, "expected the name of an option")] : own(field, at);
    });
  };
}

/** An object, or what is simpler. */
export function objectOr(simple: Rule, object: Rule): Rule {
  return (value, path) => (isObject(value) ? object : simple)(value, path);
}

/** A list of at least one, or one alone. */
export function oneOrMore(inner: Rule): Rule {
  return (value, path) => {
    if (!Array.isArray(value)) return inner(value, path);
    if (value.length === 0) return [mistake(path, "expected at least one, got none")];
    return value.flatMap((one, index) => inner(one, `${path}[${index}]`));
  };
}

/** What may be left out. */
export function optional(inner: Rule): Rule {
  return (value, path) => (value === undefined ? [] : inner(value, path));
}

export const anObject: Rule = rule("an object", isObject);
export const aFlag: Rule = rule("true or false", (value) => typeof value === "boolean");
export const aFunction: Rule = rule("a function", (value) => typeof value === "function");
export const aList: Rule = rule("a list", Array.isArray);
export const aText: Rule = rule("a text", (value) => typeof value === "string");
export const aName: Rule = rule("a name", isName);
/** A `ServerConfig`, such as those of a client's configuration. */
export const aServer: Rule = rule("a server of a configuration", (value) => isObject(value) && isName(value["target"]));
export const texts: Rule = rule("an object of texts", areTexts);
export const aSignal: Rule = rule("an AbortSignal", (value) => value instanceof AbortSignal);
/** How long somebody waits, who may have all the time there is. */
export const aWait: Rule = rule("milliseconds from 0 on", (value) => typeof value === "number" && value >= 0);
/** Of a timer; 0 where that says something of its own. */
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
 * Throws all that is wrong with what a method was called with: whoever has no compiler to say so would get an answer to another question.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID`
 */
export function checkArguments(
  method: string,
  given: Readonly<Record<string, readonly [value: unknown, rule: Rule]>>,
): void {
  const problems = Object.entries(given).flatMap(([name, [value, own]]) => own(value, name));
  if (problems.length > 0) throw problemsError("ARGUMENT_INVALID", method, problems);
}

/** One error with all of the mistakes in its text. */
export function problemsError(
  code: XdsClientErrorCode,
  about: string,
  problems: readonly ConfigProblem[],
): XdsClientError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const lines = errors.map((one) => [placeOf(one), one.message].filter((part) => part !== "").join(": "));
  return new XdsClientError(code, `${about}: ${lines.join("; ")}`, { problems });
}

/** A mistake of a program, which has no file. */
export function mistake(path: string, message: string): ConfigProblem {
  return { severity: "error", path, message };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function areTexts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((text) => typeof text === "string");
}

function placeOf({ file, line, column, path }: ConfigProblem): string {
  const parts = [file, line, column].filter((part) => part !== undefined);
  return [...parts, ...(path === "" ? [] : [parts.length === 0 ? path : ` ${path}`])].join(":");
}

/** Never the whole of an object: it may hold a key. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null) return "null";
  return typeof value === "object" || typeof value === "function" ? "something else" : String(value);
}
