import { describeKind, formatPath, mistake, type Rule, type ValuePath } from "@xdskit/protocol/internal";

/**
 * The most levels of lists and objects. A level is up to three messages (struct, entry, value), and protobuf readers in
 * C++ and Java stop at 100.
 */
const MAX_LEVELS = 32;
/** The most values; more come from values that refer to one another many times. */
const MAX_VALUES = 100_000;
/** Problems reported per node; later ones are usually echoes of the first. */
const MAX_PROBLEMS = 10;

/** A problem of metadata, with its path there. */
export interface MetadataProblem {
  readonly path: ValuePath;
  readonly message: string;
}

/**
 * Finds what a `google.protobuf.Struct` cannot hold: values that are not JSON, circular references and deep nesting.
 * Undefined fields are left out of the struct, so they are no problem.
 */
export function findMetadataProblems(metadata: unknown): readonly MetadataProblem[] {
  const search = new Search();
  search.visit(metadata, []);
  return search.problems;
}

/** The metadata of a node. */
export const aStruct: Rule = (value) => {
  if (!isPlainObject(value)) return [mistake("", `expected an object, got ${describe(value)}`)];
  return findMetadataProblems(value).map(({ path, message }) => mistake(formatPath(path), message));
};

class Search {
  readonly problems: MetadataProblem[] = [];
  readonly #around: object[] = [];
  #values = 0;

  visit(value: unknown, path: ValuePath): void {
    if (this.problems.length >= MAX_PROBLEMS || this.#values > MAX_VALUES) return;
    if (++this.#values > MAX_VALUES) this.#add([], `expected at most ${MAX_VALUES} values, got more`);
    else if (Array.isArray(value) || isPlainObject(value)) this.#visitInside(value, path);
    else if (!isScalar(value)) this.#add(path, `expected a JSON value, got ${describe(value)}`);
  }

  #visitInside(value: object, path: ValuePath): void {
    if (this.#around.includes(value)) this.#add(path, "expected a JSON value, got a circular reference");
    else if (this.#around.length >= MAX_LEVELS)
      this.#add(path, `expected at most ${MAX_LEVELS} levels of nesting, got more`);
    else {
      this.#around.push(value);
      for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) this.#visitInner(value, key, path);
      this.#around.pop();
    }
  }

  #visitInner(outer: object, key: string | number, path: ValuePath): void {
    const inner = [...path, key];
    let value: unknown;
    try {
      value = Reflect.get(outer, key);
    } catch {
      this.#add(inner, "expected a JSON value, got an exception when it was read");
      return;
    }
    // A list keeps the place of an undefined item, which has no JSON form.
    if (value !== undefined || Array.isArray(outer)) this.visit(value, inner);
  }

  #add(path: ValuePath, message: string): void {
    this.problems.push({ path, message });
  }
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

/** Whether a value is an object without a class, of this realm or another. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return describeKind(value);
  const { constructor: made }: { readonly constructor?: unknown } = value;
  return `an instance of ${typeof made === "function" ? made.name : "a class"}`;
}
