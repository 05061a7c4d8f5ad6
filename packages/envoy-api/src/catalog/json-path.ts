import { isJsonSpelling, toJsonSpelling } from "../format/key-spelling.ts";
import type { FieldProblem } from "../problem.ts";

/**
 * Translates a path of proto names to the keys of a JSON value, such as `connectTimeout` for `connect_timeout` where
 * the value uses it. Fields that the value lacks are spelled as the keys around them.
 */
export function resolveJsonPath(value: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  return walk(value, path).keys;
}

/**
 * Spells the fields of a text, which are proto names between backticks, as a JSON value does at a path of proto names.
 * What stands between quotes is of the operator, and stays.
 */
export function spellFields(text: string, value: unknown, path: readonly (string | number)[]): string {
  if (!text.includes("`")) return text;
  return spellText(text, walk(value, path).usesJson);
}

/** The same for a value of which only the spelling is known. */
export function spellText(text: string, usesJson: boolean): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|`([^`]*)`/g, (all, name?: string) =>
    name === undefined ? all : usesJson ? toJsonSpelling(name) : name,
  );
}

/** A problem with a path of proto names, spelled as a JSON value; without one with proto names. */
export function spellProblem(problem: FieldProblem, value: unknown): FieldProblem {
  const { path, message, hint } = problem;
  return {
    ...problem,
    path: value === undefined ? path : resolveJsonPath(value, path),
    message: spellFields(message, value, path),
    ...(hint !== undefined && { hint: spellFields(hint, value, path) }),
  };
}

/** Whether the keys of a JSON value are spelled as in ProtoJSON, by the first of more than one word. */
export function usesJsonSpelling(value: unknown): boolean {
  return firstSpelling(value) ?? false;
}

function firstSpelling(value: unknown): boolean | undefined {
  if (!isObject(value)) return undefined;
  const own = spellingIn(value);
  if (own !== undefined) return own;
  for (const member of Object.values(value)) {
    const below = firstSpelling(member);
    if (below !== undefined) return below;
  }
  return undefined;
}

/** The keys of a value on a path of proto names, and whether those at its end are spelled as in ProtoJSON. */
function walk(
  value: unknown,
  path: readonly (string | number)[],
): { readonly keys: readonly (string | number)[]; readonly usesJson: boolean } {
  let here = value;
  let usesJson = spellingIn(here) ?? false;
  const keys = path.map((segment) => {
    const key = keyIn(here, segment, usesJson);
    here = isObject(here) ? here[key] : undefined;
    usesJson = spellingIn(here) ?? usesJson;
    return key;
  });
  return { keys, usesJson };
}

/** Whether the keys of an object are spelled as in ProtoJSON; undefined: none of them says. */
function spellingIn(value: unknown): boolean | undefined {
  if (!isObject(value) || Array.isArray(value)) return undefined;
  for (const key of Object.keys(value)) {
    const spelling = isJsonSpelling(key);
    if (spelling !== undefined) return spelling;
  }
  return undefined;
}

function keyIn(value: unknown, segment: string | number, usesJson: boolean): string | number {
  if (typeof segment === "number" || (isObject(value) && Object.hasOwn(value, segment))) return segment;
  const json = toJsonSpelling(segment);
  return usesJson || (isObject(value) && Object.hasOwn(value, json)) ? json : segment;
}

function isObject(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === "object" && value !== null;
}
