import { ScalarType } from "@bufbuild/protobuf";
import { decodeBase64Digits } from "../platform.ts";
import type { FieldProblemCode } from "../problem.ts";
import type { ProblemList } from "./problem-list.ts";

/** A protobuf scalar in a decoded message. */
export type ScalarContent = string | number | bigint | boolean | Uint8Array;

/** Reads a JSON value as a scalar. Undefined after adding a problem. */
export function readScalar(type: ScalarType, value: unknown, problems: ProblemList): ScalarContent | undefined {
  switch (type) {
    case ScalarType.STRING:
      return readString(value, problems);
    case ScalarType.BOOL:
      if (typeof value === "boolean") return value;
      return wrongType(
        "true or false",
        value,
        problems,
        typeof value === "string" ? "leave the quotes out" : undefined,
      );
    case ScalarType.BYTES:
      return readBytes(value, problems);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return readFloat(type, value, problems);
    default:
      return readInteger(type, value, problems);
  }
}

/** Reads a map key, which is always a string in JSON. Undefined after adding a problem. */
export function readMapKey(type: ScalarType, key: string, problems: ProblemList): string | undefined {
  if (type === ScalarType.STRING) return readString(key, problems);
  if (type === ScalarType.BOOL) {
    if (key === "true" || key === "false") return key;
    return problem("FIELD_WRONG_TYPE", `expected the key "true" or "false", got ${problems.describe(key)}`, problems);
  }
  const number = readInteger(type, key, problems);
  return number === undefined ? undefined : String(number);
}

const HAS_SURROGATE = /[\ud800-\udfff]/;
const HAS_HALF_PAIR = /\p{Surrogate}/u;

function readString(value: unknown, problems: ProblemList): string | undefined {
  if (typeof value !== "string") {
    const isScalar = typeof value === "number" || typeof value === "boolean" || typeof value === "bigint";
    return wrongType("a string", value, problems, isScalar ? "put it in quotes" : undefined);
  }
  if (!HAS_SURROGATE.test(value) || !HAS_HALF_PAIR.test(value)) return value;
  return problem("STRING_INVALID", "expected Unicode text, got a string with half of a surrogate pair", problems);
}

// Standard or URL-safe, with or without padding.
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Decodes base64; undefined if the text is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!BASE64.test(text)) return undefined;
  const digits = text.replace(/=+$/, "").length;
  const isPaddedWrongly = text.length !== digits && text.length % 4 !== 0;
  if (digits % 4 === 1 || isPaddedWrongly) return undefined;
  return decodeBase64Digits(text);
}

function readBytes(value: unknown, problems: ProblemList): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== "string") return wrongType("bytes as a base64 string", value, problems);
  const bytes = decodeBase64(value);
  if (bytes !== undefined) return bytes;
  return problem("BYTES_INVALID", `expected bytes in base64, got ${problems.describe(value)}`, problems);
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const LARGEST_FLOAT = 3.4028234663852886e38;

function readFloat(type: ScalarType, value: unknown, problems: ProblemList): number | undefined {
  const number = floatOf(value);
  if (number === undefined) {
    return typeof value === "string"
      ? problem("NUMBER_INVALID", `expected a number, got ${problems.describe(value)}`, problems)
      : wrongType("a number", value, problems);
  }
  const isTooLarge = Number.isFinite(number) && type === ScalarType.FLOAT && Math.abs(number) > LARGEST_FLOAT;
  const hasOverflown = !Number.isFinite(number) && typeof value === "string" && NUMBER.test(value);
  if (isTooLarge || hasOverflown) {
    return problem("NUMBER_INVALID", `expected a number that fits, got ${problems.describe(value)}`, problems);
  }
  return number;
}

function floatOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "string") return undefined;
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity") return Number.POSITIVE_INFINITY;
  if (value === "-Infinity") return Number.NEGATIVE_INFINITY;
  return NUMBER.test(value) ? Number(value) : undefined;
}

interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
  readonly isLong: boolean;
}

const INT32: IntegerRange = { min: -(2n ** 31n), max: 2n ** 31n - 1n, isLong: false };
const UINT32: IntegerRange = { min: 0n, max: 2n ** 32n - 1n, isLong: false };
const INT64: IntegerRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n, isLong: true };
const UINT64: IntegerRange = { min: 0n, max: 2n ** 64n - 1n, isLong: true };

function rangeOf(type: ScalarType): IntegerRange {
  switch (type) {
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return UINT32;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return UINT64;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return INT64;
    default:
      return INT32;
  }
}

function readInteger(type: ScalarType, value: unknown, problems: ProblemList): number | bigint | undefined {
  const range = rangeOf(type);
  if (typeof value !== "number" && typeof value !== "string" && typeof value !== "bigint") {
    return wrongType("an integer", value, problems);
  }
  const integer = integerOf(value);
  const got = problems.describe(value);
  if (integer === undefined) return problem("NUMBER_INVALID", `expected an integer, got ${got}`, problems);
  if (integer < range.min || integer > range.max) {
    return problem("NUMBER_INVALID", `expected an integer from ${range.min} to ${range.max}, got ${got}`, problems);
  }
  if (!range.isLong) return Number(integer);
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    const message = `expected an integer of at most 53 bits unless in quotes, got ${got}`;
    return problem("NUMBER_INVALID", message, problems, "put it in quotes: as a number it has lost digits already");
  }
  return integer;
}

function integerOf(value: number | string | bigint): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  if (/^-?(0|[1-9]\d*)$/.test(value)) return BigInt(value);
  // "1e3" and "10.0" are integers too.
  const number = NUMBER.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? BigInt(number) : undefined;
}

function wrongType(expected: string, value: unknown, problems: ProblemList, hint?: string): undefined {
  return problem("FIELD_WRONG_TYPE", `expected ${expected}, got ${problems.describe(value)}`, problems, hint);
}

function problem(code: FieldProblemCode, message: string, problems: ProblemList, hint?: string): undefined {
  problems.error(code, message, hint);
  return undefined;
}
