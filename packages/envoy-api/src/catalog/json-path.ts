/**
 * Translates a path of proto names to the keys of a JSON value, such as `connectTimeout` for `connect_timeout` where
 * the value uses it. Segments beyond the value stay as they are.
 */
export function resolveJsonPath(value: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  let here = value;
  return path.map((segment) => {
    const key = keyIn(here, segment);
    here = isObject(here) ? here[key] : undefined;
    return key;
  });
}

function keyIn(value: unknown, segment: string | number): string | number {
  if (typeof segment === "number" || !isObject(value) || Object.hasOwn(value, segment)) return segment;
  const camel = segment.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return Object.hasOwn(value, camel) ? camel : segment;
}

function isObject(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === "object" && value !== null;
}
