import type { NodeMatcher, StringMatcher, StructMatcher, ValueMatcher } from "@xdskit/envoy-api/internal";
import type { Node } from "@xdskit/protocol";
import { compileRegex, RegexEffort } from "./regex/regex.ts";

type Test<T> = (value: T) => boolean;

/** An invalid matcher; the message tells the peer why. */
export class MatcherError extends Error {
  override readonly name = "MatcherError";
}

/**
 * Compiles node matchers: at least one must match in all its parts; without matchers every node matches (S-CSD-01).
 * Throws a `MatcherError` or a `RegexError` if one is invalid.
 */
export function compileNodeMatchers(matchers: readonly NodeMatcher[]): Test<Node> {
  if (matchers.length === 0) return () => true;
  const effort = new RegexEffort();
  const tests = matchers.map((matcher) => compileNodeMatcher(matcher, effort));
  return (node) => {
    effort.beginNode();
    return tests.some((test) => test(node));
  };
}

function compileNodeMatcher({ nodeId, nodeMetadatas }: NodeMatcher, effort: RegexEffort): Test<Node> {
  const matchesId = nodeId === undefined ? () => true : compileString(nodeId, effort);
  const tests = nodeMetadatas.map((matcher) => compileStruct(matcher, effort));
  return ({ id, metadata }) => matchesId(id) && tests.every((test) => test(metadata));
}

function compileString({ kind, text, ignoreCase }: StringMatcher, effort: RegexEffort): Test<string> {
  if (kind === "regex") return compileRegex(text, effort);
  if (kind === "custom") throw new MatcherError("a custom string matcher is not known here");
  if (kind !== "exact" && text === "") throw new MatcherError(`expected a text for ${kind}, got nothing`);
  const fold = (value: string): string => (ignoreCase ? value.toLowerCase() : value);
  const wanted = fold(text);
  const compare: Test<string> = {
    exact: (value: string) => value === wanted,
    prefix: (value: string) => value.startsWith(wanted),
    suffix: (value: string) => value.endsWith(wanted),
    contains: (value: string) => value.includes(wanted),
  }[kind];
  return (value) => compare(fold(value));
}

function compileStruct({ path, value }: StructMatcher, effort: RegexEffort): Test<unknown> {
  if (path.length === 0) throw new MatcherError("expected a path into the metadata, got none");
  if (path.includes("")) throw new MatcherError("expected a key in each step of a path, got nothing");
  const matches = compileValue(value, effort);
  return (metadata) => matches(path.reduce(stepInto, metadata));
}

function stepInto(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
    return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

/** The test of a value; undefined stands for an absent one. */
function compileValue(matcher: ValueMatcher, effort: RegexEffort): Test<unknown> {
  switch (matcher.kind) {
    case "none":
      throw new MatcherError("expected a matcher for a value, got nothing");
    case "null":
      return (value) => value === null;
    case "number":
      return (value) => value === matcher.exact;
    case "range":
      return (value) => typeof value === "number" && value >= matcher.start && value < matcher.end;
    case "bool":
      return (value) => value === matcher.bool;
    case "present":
      return (value) => matcher.isPresent && value !== undefined && (value === null || typeof value !== "object");
    case "string": {
      const matches = compileString(matcher.string, effort);
      return (value) => typeof value === "string" && matches(value);
    }
    case "one-of": {
      const matches = compileValue(matcher.element, effort);
      return (value) => Array.isArray(value) && value.some(matches);
    }
    case "or": {
      if (matcher.values.length < 2)
        throw new MatcherError(`expected two values or more, got ${matcher.values.length}`);
      const tests = matcher.values.map((each) => compileValue(each, effort));
      return (value) => tests.some((matches) => matches(value));
    }
    default:
      return matcher satisfies never;
  }
}
