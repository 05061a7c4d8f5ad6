export { describeKind } from "@xdskit/envoy-api/internal";

/** A kind of value that an option has; its content is checked later. */
export interface Kind {
  /** In an error: `expected an object`. */
  readonly expected: string;
  holds(value: unknown): boolean;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isFunction = (value: unknown): boolean => typeof value === "function";
const isListOf = (value: unknown, holds: (one: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(holds);

type KindName =
  | "object"
  | "objectOrFalse"
  | "objectOrList"
  | "listOfObjects"
  | "functionOrList"
  | "functionOrObject"
  | "function"
  | "flag"
  | "text"
  | "texts"
  | "allOrTexts"
  | "number";

export const kinds: Readonly<Record<KindName, Kind>> = {
  object: { expected: "an object", holds: hasFields },
  objectOrFalse: { expected: "an object or false", holds: (value) => value === false || hasFields(value) },
  objectOrList: {
    expected: "an object, or a list of objects",
    holds: (value) => hasFields(value) || isListOf(value, hasFields),
  },
  listOfObjects: { expected: "a list of objects", holds: (value) => isListOf(value, hasFields) },
  functionOrList: {
    expected: "a function, or a list of objects",
    holds: (value) => isFunction(value) || isListOf(value, hasFields),
  },
  functionOrObject: { expected: "a function or an object", holds: (value) => isFunction(value) || hasFields(value) },
  function: { expected: "a function", holds: isFunction },
  flag: { expected: "true or false", holds: (value) => typeof value === "boolean" },
  text: { expected: "a string", holds: isText },
  texts: { expected: "a list of strings", holds: (value) => isListOf(value, isText) },
  allOrTexts: { expected: '"all", or a list of strings', holds: (value) => value === "all" || isListOf(value, isText) },
  number: { expected: "a number", holds: (value) => typeof value === "number" },
};

export function hasFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
