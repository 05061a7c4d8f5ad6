import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { readPlainObject } from "./plain-object.ts";
import type { ProblemList } from "./problem-list.ts";

/** A protobuf duration or timestamp. */
export interface Seconds {
  readonly seconds: bigint;
  readonly nanos: number;
}

const DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;
const LONGEST_DURATION_SECONDS = 315_576_000_000n;

/** Reads `"0.25s"`. Undefined after adding a problem. */
export function readDuration(value: unknown, problems: ProblemList): Seconds | undefined {
  const match = typeof value === "string" ? DURATION.exec(value) : null;
  if (match === null) {
    const hint = typeof value === "number" ? `write "${value}s"` : 'write seconds and "s", such as "0.25s"';
    problems.error("DURATION_INVALID", `expected a duration, got ${problems.describe(value)}`, hint);
    return undefined;
  }
  const [, sign = "", whole = "0", fraction = ""] = match;
  const seconds = BigInt(whole);
  if (seconds > LONGEST_DURATION_SECONDS) {
    problems.error("DURATION_INVALID", `expected a duration of at most 10000 years, got ${problems.describe(value)}`);
    return undefined;
  }
  const nanos = Number(fraction.padEnd(9, "0"));
  return sign === "-" ? { seconds: -seconds, nanos: nanos === 0 ? 0 : -nanos } : { seconds, nanos };
}

const TIMESTAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** Reads RFC 3339 such as `"2030-01-01T00:00:00Z"`. Undefined after adding a problem. */
export function readTimestamp(value: unknown, problems: ProblemList): Seconds | undefined {
  const match = typeof value === "string" ? TIMESTAMP.exec(value) : null;
  const [, moment = "", fraction = "", zone = ""] = match ?? [];
  const milliseconds = match === null ? Number.NaN : Date.parse(`${moment}${zone}`);
  if (Number.isNaN(milliseconds) || milliseconds < Date.parse("0001-01-01T00:00:00Z")) {
    const message = `expected a timestamp, got ${problems.describe(value)}`;
    problems.error("TIMESTAMP_INVALID", message, 'write it as in "2030-01-01T00:00:00Z"');
    return undefined;
  }
  return { seconds: BigInt(milliseconds / 1000), nanos: Number(fraction.padEnd(9, "0")) };
}

const MASK_PATH = /^[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*$/;

/** Reads `"a.fieldName,b"` and returns paths in proto names. Undefined after adding a problem. */
export function readFieldMask(value: unknown, problems: ProblemList): readonly string[] | undefined {
  const paths = value === "" ? [] : typeof value === "string" ? value.split(",") : undefined;
  if (paths === undefined || !paths.every((path) => MASK_PATH.test(path))) {
    const message = `expected a field mask, got ${problems.describe(value)}`;
    problems.error(
      "FIELD_MASK_INVALID",
      message,
      'write camelCase paths with commas between them, such as "a.fieldName,b"',
    );
    return undefined;
  }
  return paths.map((path) => path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

// The number of message levels between an object of a Struct and its values (Struct, FieldsEntry, Value), and for a
// list.
const LEVELS_OF_OBJECT = 3;
const LEVELS_OF_LIST = 2;

/**
 * Reads any JSON value and sorts the keys of every object, so that equal content has equal bytes. `depth` is the number
 * of message levels still allowed.
 */
export function readJson(value: unknown, problems: ProblemList, depth: number): JsonValue | undefined {
  if (depth < 0) return tooDeep(problems);
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "bigint":
      return Number(value);
    case "number":
      if (Number.isFinite(value)) return value;
      problems.error("NUMBER_INVALID", `expected a finite number, got ${problems.describe(value)}`);
      return undefined;
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? readJsonList(value, problems, depth) : readJsonObject(value, problems, depth);
    default:
      problems.error("FIELD_WRONG_TYPE", `expected a JSON value, got ${problems.describe(value)}`);
      return undefined;
  }
}

export function readJsonList(value: readonly unknown[], problems: ProblemList, depth: number): JsonValue[] {
  return value.map((element, index) => {
    problems.path.push(index);
    const read = readJson(element, problems, depth - LEVELS_OF_LIST);
    problems.path.pop();
    return read ?? null;
  });
}

/** Undefined after adding a problem, if it is no object. */
export function readJsonObject(value: unknown, problems: ProblemList, depth: number): JsonObject | undefined {
  const object = readPlainObject(value, problems);
  if (object === undefined) return undefined;
  const entries = Object.entries(object);
  entries.sort(([a], [b]) => compareText(a, b));
  const sorted: JsonObject = {};
  for (const [key, element] of entries) {
    problems.path.push(key);
    setOwnProperty(sorted, key, readJson(element, problems, depth - LEVELS_OF_OBJECT) ?? null);
    problems.path.pop();
  }
  return sorted;
}

/** Orders strings by UTF-16 code units, equally on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sets an own property of any name, `__proto__` included. */
export function setOwnProperty(object: object, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    (object as Record<string, unknown>)[key] = value;
  }
}

export function tooDeep(problems: ProblemList): undefined {
  // Only the beginning of the path, because a full one would fill the screen.
  const path = problems.path.splice(8);
  problems.error("NESTING_TOO_DEEP", "expected at most 100 levels of messages in messages, got more");
  problems.path.push(...path);
  return undefined;
}
