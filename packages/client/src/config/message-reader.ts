import type { EnvoyApi, FieldProblem } from "@xdskit/envoy-api";
import { withoutFlags } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import type { ValuePath } from "@xdskit/protocol/internal";
import { isObject } from "@xdskit/protocol/internal";
import type { Place } from "./place.ts";
import type { Problems } from "./problems.ts";

/** Options for reading a message in a configuration. */
export interface MessageReading {
  readonly api: EnvoyApi;
  /** Accept what only old releases accepted: Durations as objects, one object for a list (C-CFG-03). */
  readonly isLenient: boolean;
  /** Ignore unknown fields silently. */
  readonly ignoresUnknown?: boolean;
}

/** A message, as far as it could be read. */
export interface ReadMessage {
  readonly bytes: Uint8Array;
  /** Printed with proto field names, so that each field has one spelling. */
  readonly place: Place;
}

/** The limit of repairs, more than any configuration has mistakes one inside the other. */
const MAX_ROUNDS = 100;

/**
 * Reads a JSON value as a message. Invalid parts are reported and left out, so that the rest is still read and checked;
 * undefined if nothing is left.
 */
export function readMessage(
  messageName: string,
  place: Place,
  reading: MessageReading,
  problems: Problems,
): ReadMessage | undefined {
  let value = place.value;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = reading.api.readMessage(messageName, value);
    if (result.bytes !== undefined) return printed(messageName, result.bytes, place, reading, problems);
    const errors = result.problems.filter(({ severity }) => severity === "error");
    const repaired = errors.reduce((whole, problem) => repair(whole, problem, place, reading, problems), value);
    if (repaired === value || !isObject(repaired)) return undefined;
    value = repaired;
  }
  return undefined;
}

function printed(
  messageName: string,
  bytes: Uint8Array,
  place: Place,
  { api }: MessageReading,
  problems: Problems,
): ReadMessage {
  const type = formatTypeUrl(messageName);
  for (const { path, message, hint } of api.validate(type, bytes)) {
    problems.warning([...place.path, ...path], message, hint);
  }
  return { bytes, place: { value: api.toJson(type, bytes, { names: "proto" }), path: place.path } };
}

function repair(
  whole: unknown,
  problem: FieldProblem,
  place: Place,
  reading: MessageReading,
  problems: Problems,
): unknown {
  const { path, code } = problem;
  const meant = reading.isLenient ? oldForm(problem, valueAt(whole, path)) : undefined;
  if (meant !== undefined) return replaced(whole, path, meant);
  if (code === "FIELD_UNKNOWN" && reading.ignoresUnknown === true) return without(whole, path);
  tell(problem, place, problems);
  // Drops an extension of unknown type as a whole.
  return without(whole, code === "TYPE_UNKNOWN" ? path.slice(0, -1) : path);
}

function tell({ code, path, message, hint }: FieldProblem, place: Place, problems: Problems): void {
  problems.unread({
    // Unknown extensions are common, and matter only where the client needs them.
    severity: code === "TYPE_UNKNOWN" ? "warning" : "error",
    path: [...place.path, ...path],
    message,
    ...(hint !== undefined && { hint: withoutFlags(hint) }),
  });
}

/** The value that old Envoy releases read from an invalid one; undefined if they rejected it too. */
function oldForm({ code, message }: FieldProblem, value: unknown): unknown {
  if (!isObject(value)) return undefined;
  if (code === "FIELD_WRONG_TYPE") return message.startsWith("expected a list") ? [value] : undefined;
  if (code !== "DURATION_INVALID") return undefined;
  const { seconds = 0, nanos = 0, ...others } = value;
  const isWhole = Number.isSafeInteger(Number(seconds)) && Number.isSafeInteger(Number(nanos));
  const isDuration = isWhole && Object.keys(others).length === 0 && Number(nanos) >= 0 && Number(nanos) < 1e9;
  return isDuration ? `${Number(seconds)}.${String(Number(nanos)).padStart(9, "0")}s` : undefined;
}

function valueAt(whole: unknown, path: ValuePath): unknown {
  return path.reduce<unknown>((value, segment) => {
    if (Array.isArray(value)) return typeof segment === "number" ? value[segment] : undefined;
    return isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  }, whole);
}

function replaced(whole: unknown, [key, ...rest]: ValuePath, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(whole)) {
    return whole.map((item: unknown, index) => (index === key ? replaced(item, rest, by) : item));
  }
  if (!isObject(whole) || !Object.hasOwn(whole, key)) return whole;
  return Object.fromEntries(
    Object.entries(whole).map(([name, inner]) => [name, name === String(key) ? replaced(inner, rest, by) : inner]),
  );
}

/** Removes a field. A list loses all its items with one, so that paths stay correct. */
function without(whole: unknown, path: ValuePath): unknown {
  const last = path.at(-1);
  const outer = path.slice(0, -1);
  if (last === undefined) return undefined;
  if (typeof last === "number") return without(whole, outer);
  const around = valueAt(whole, outer);
  if (!isObject(around)) return whole;
  // A missing field cannot be removed.
  if (!Object.hasOwn(around, last)) return without(whole, outer);
  return replaced(whole, outer, Object.fromEntries(Object.entries(around).filter(([name]) => name !== last)));
}
