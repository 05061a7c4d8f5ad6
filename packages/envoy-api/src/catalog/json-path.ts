import { isJsonSpelling, toJsonSpelling } from "../format/key-spelling.ts";

/**
 * Translates a path of proto names to the keys of a JSON value, such as `connectTimeout` for `connect_timeout` where
 * the value uses it. Fields that the value lacks are spelled as the keys around them.
 */
export function resolveJsonPath(value: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  let here = value;
  let usesJson = false;
  return path.map((segment) => {
    usesJson = spellingIn(here) ?? usesJson;
    const key = keyIn(here, segment, usesJson);
    here = isObject(here) ? here[key] : undefined;
    return key;
  });
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
