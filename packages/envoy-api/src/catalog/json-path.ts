import { isJsonSpelling, toJsonSpelling } from "../format/key-spelling.ts";

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
  const { usesJson } = walk(value, path);
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|`([^`]*)`/g, (all, name?: string) =>
    name === undefined ? all : usesJson ? toJsonSpelling(name) : name,
  );
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
