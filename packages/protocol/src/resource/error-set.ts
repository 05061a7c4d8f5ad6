import type { Resource } from "./resource.ts";

/** Errors by the names in whose place they stand. Compared by identity where it can be: equal for all who share it. */
export type ErrorSet = ReadonlyMap<string, Resource>;

/** No errors. */
export const noErrors: ErrorSet = new Map();

/** Whether two hold the same errors. */
export function areSame(a: ErrorSet, b: ErrorSet): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, error] of a) if (b.get(name)?.version !== error.version) return false;
  return true;
}
