/** Guards functions of the embedding program, so that their mistakes do not look like those of the server. */
import type { AccessFunction, ClientChoice, ClientRule, NodeMapping, StructConverter } from "@xdskit/protocol";
import {
  aText,
  at,
  describeProblem,
  fields,
  isObject,
  isTexts,
  type Rule,
  type RulesOf,
  rule,
} from "@xdskit/protocol/internal";
import { aDialect, anEdition } from "../node-rules.ts";
import { isThenable } from "./listeners.ts";

/** Is told what a function threw, or what is wrong with its answer. */
type Failed = (error: unknown) => void;

/**
 * Wraps the node mapping: a node for which it throws, or answers anything but layers or a rejection, is rejected, and
 * `failed` is told why.
 */
export function guardMapping(mapping: NodeMapping, failed: Failed): NodeMapping {
  if (typeof mapping !== "function") return mapping;
  const expected = "a list of layer names";
  const checked = checkAnswers(mapping, {
    ...{ name: "nodeMapping", expected },
    rule: rule(expected, (answer) => isTexts(answer) || isRejection(answer)),
  });
  return guard(checked, () => ({ refused: "the node mapping of this server failed" }), failed);
}

/** Wraps the client overrides: a client for which they throw, or answer anything else, gets none. */
export function guardOverrides(overrides: ClientChoice, failed: Failed): ClientChoice {
  const expected = "{ name, edition, dialect } or undefined";
  const checked = checkAnswers(overrides, { name: "clientOverrides", expected, rule: anOverride });
  return guard(checked, () => undefined, failed);
}

/** Wraps the struct converter: a resource for which it throws, or answers anything but bytes, is sent as it is. */
export function guardConverter(convert: StructConverter, failed: Failed): StructConverter {
  const expected = "a Uint8Array";
  const isBytes = rule(expected, (answer) => answer instanceof Uint8Array);
  const checked = checkAnswers(convert, { name: "convertForStructs", expected, rule: isBytes });
  return guard(checked, ({ bytes }) => bytes, failed);
}

/** Wraps an access function, which throws if the answer is no boolean: what it throws denies. */
export function checkAccess(decide: AccessFunction): AccessFunction {
  const expected = "true or false";
  const isBoolean = rule(expected, (answer) => typeof answer === "boolean");
  return checkAnswers(decide, { name: "access", expected, rule: isBoolean });
}

const ofOverride: RulesOf<Omit<ClientRule, "match">> = { name: aText, edition: anEdition, dialect: aDialect };
const aGivenOverride: Rule = fields(ofOverride, { needed: ["name"] });
const anOverride: Rule = (answer) => (answer === undefined ? [] : aGivenOverride(answer));

interface Answers {
  /** The name of the function in the options. */
  readonly name: string;
  readonly expected: string;
  readonly rule: Rule;
}

/** Makes a function throw a TypeError instead of an answer that breaks the rule. */
function checkAnswers<A extends readonly unknown[], R>(
  call: (...given: A) => R,
  { name, expected, rule: holds }: Answers,
): (...given: A) => R {
  return (...given) => {
    const answer = call(...given);
    if (isThenable(answer)) {
      // Its rejection would end the process.
      answer.then(undefined, () => undefined);
      throw new TypeError(`${name}: expected ${expected}, got a promise: it must not be async`);
    }
    const problems = holds(answer);
    if (problems.length === 0) return answer;
    throw new TypeError(at(name, problems).map(describeProblem).join("; "));
  };
}

/** Makes a function answer `instead` where it throws. */
function guard<A extends readonly unknown[], R>(
  call: (...given: A) => R,
  instead: (...given: A) => R,
  failed: Failed,
): (...given: A) => R {
  return (...given) => {
    try {
      return call(...given);
    } catch (error) {
      failed(error);
      return instead(...given);
    }
  };
}

function isRejection(answer: unknown): answer is { readonly refused: string } {
  return isObject(answer) && typeof answer["refused"] === "string";
}
