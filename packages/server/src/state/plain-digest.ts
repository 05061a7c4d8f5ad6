import { contentDigest } from "@xdskit/envoy-api";

/** Deeper than any message that can be read. */
const DEEPEST = 400;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * A digest that is equal for equal plain data with keys in equal order, at a small part of the cost of reading it as a
 * resource. Undefined for anything that JSON cannot express exactly: other objects than records and lists, functions,
 * symbols, cycles, lone surrogates.
 */
export function plainDigest(value: unknown): bigint | undefined {
  const text = textOf(value, 0);
  // UTF-8 replaces lone surrogates, which would make different texts equal.
  return text === undefined || LONE_SURROGATE.test(text) ? undefined : contentDigest([text]);
}

/** A text in which each string is preceded by its length, so that different values have different texts. */
function textOf(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case "string":
      return `${value.length}:${value}`;
    case "number":
      return Object.is(value, -0) ? "-0," : `${value},`;
    case "boolean":
      return value ? "t" : "f";
    case "bigint":
      return `${value}n`;
    case "undefined":
      return "u";
    case "object":
      return value === null ? "n" : depth < DEEPEST ? textOfObject(value, depth + 1) : undefined;
    default:
      return undefined;
  }
}

function textOfObject(value: object, depth: number): string | undefined {
  if (Array.isArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index++) {
      const element = textOf(value[index], depth);
      if (element === undefined) return undefined;
      text += element;
    }
    return `${text}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  let text = "{";
  for (const key in value) {
    const entry = textOf((value as Readonly<Record<string, unknown>>)[key], depth);
    if (entry === undefined) return undefined;
    text += `${key.length}:${key}${entry}`;
  }
  return `${text}}`;
}
