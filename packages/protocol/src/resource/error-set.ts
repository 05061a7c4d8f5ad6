import type { Resource } from "./resource.ts";

/** Resource errors by name. Shared sets are the same object, which makes the comparison cheap. */
export type ErrorSet = ReadonlyMap<string, Resource>;

/** No errors. */
export const noErrors: ErrorSet = new Map();

/** Whether two sets hold the same errors. */
export function areSame(a: ErrorSet, b: ErrorSet): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, error] of a) if (b.get(name)?.version !== error.version) return false;
  return true;
}
