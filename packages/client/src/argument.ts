import { LONGEST_TIMER_MS } from "@xdskit/disk";
import {
  anObject,
  describeProblems,
  isObject,
  mistake,
  problemsIn,
  type Rule,
  rule,
  wholeNumber,
} from "@xdskit/protocol/internal";
import { type ConfigProblem, XdsClientError, type XdsClientErrorCode } from "./error.ts";

/** A `ServerConfig`, such as those in the client's configuration. */
export const aServer: Rule = rule(
  "a server of a configuration",
  (value) => isObject(value) && typeof value["target"] === "string" && value["target"] !== "",
);
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
    const problems = problemsIn(named, given);
    if (problems.length > 0) throw problemsError("ARGUMENT_INVALID", method, problems);
  };
}

/** One error that lists all problems in its text. */
export function problemsError(
  code: XdsClientErrorCode,
  about: string,
  problems: readonly ConfigProblem[],
): XdsClientError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const placed = errors.map((one) => ({ ...one, path: placeOf(one) }));
  return new XdsClientError(code, describeProblems(about, placed), { problems });
}

function placeOf({ file, line, column, path }: ConfigProblem): string {
  const parts = [file, line, column].filter((part) => part !== undefined);
  return [...parts, ...(path === "" ? [] : [parts.length === 0 ? path : ` ${path}`])].join(":");
}
