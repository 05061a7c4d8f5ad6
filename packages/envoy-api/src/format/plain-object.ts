import { isObject } from "@xdskit/protocol/internal";
import type { ProblemList } from "./problem-list.ts";

/** Their content is not in fields, or stands for something else than an object. */
const classes = [Map, Set, Date, Uint8Array];

/**
 * Reads an object whose content is in its fields: of a Map, a Set or a Date nothing would be left. Undefined
 * after adding a problem.
 */
export function readPlainObject(
  value: unknown,
  problems: ProblemList,
  expected = "an object",
): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(value)) {
    problems.error("FIELD_WRONG_TYPE", `expected ${expected}, got ${problems.describe(value)}`);
    return undefined;
  }
  if (classes.some((one) => value instanceof one)) {
    problems.error("FIELD_WRONG_TYPE", `expected a plain object, got a ${value.constructor.name}`);
    return undefined;
  }
  return value;
}
