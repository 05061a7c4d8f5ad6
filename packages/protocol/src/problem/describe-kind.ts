/** A value in an error. Never prints a whole object: it may hold a key. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean")
    return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object") return `a ${typeof value}`;
  return "then" in value && typeof value.then === "function" ? "a promise: is an await missing?" : "an object";
}

/** Whether a value is an object with fields, not a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The kind of a value, without its content, which may be secret. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "bigint" ? "a number" : `a ${typeof value}`;
}
