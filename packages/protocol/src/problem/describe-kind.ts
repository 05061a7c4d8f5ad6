/** A value in an error. Never prints a whole object: it may hold a key. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean")
    return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Promise) return "a promise: is an await missing?";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
