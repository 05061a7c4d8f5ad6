import type { EnvoyApi, FieldProblem } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import { isObject } from "../argument.ts";
import type { Place } from "./place.ts";
import type { Path, Problems } from "./problems.ts";

/** How a message in a configuration is read. */
export interface MessageReading {
  readonly api: EnvoyApi;
  /** Takes what only old releases took: Durations as objects, one object for a list (C-CFG-03). */
  readonly isLenient: boolean;
  /** Fields that nobody knows are passed over in silence. */
  readonly ignoresUnknown?: boolean;
}

/** A message that was read, as far as it could be. */
export interface ReadMessage {
  readonly bytes: Uint8Array;
  /** Printed with the names of the proto file, so that it is spelled in one way only. */
  readonly place: Place;
}

/** More than the mistakes of any configuration, one within another. */
const MAX_ROUNDS = 100;

/**
 * Reads a JSON value as a message. What cannot be read is told and left out, so that the rest is read and judged all the same;
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
  // Of an extension that nobody knows, all that is said of it goes.
  return without(whole, code === "TYPE_UNKNOWN" ? path.slice(0, -1) : path);
}

function tell({ code, path, message, hint }: FieldProblem, place: Place, problems: Problems): void {
  const known = hint
    ?.replace("is added with --descriptors FILE", "is added as descriptors")
    .replace("needs --descriptors FILE", "needs added descriptors")
    .replace("with --descriptors FILE", "to the built-in ones");
  problems.unread({
    // Extensions are many, and those of somebody's own concern a client only where it needs them.
    severity: code === "TYPE_UNKNOWN" ? "warning" : "error",
    path: [...place.path, ...path],
    message,
    ...(known !== undefined && { hint: known }),
  });
}

/** What old releases of Envoy made of a value that is refused; undefined if they refused it as well. */
function oldForm({ code, message }: FieldProblem, value: unknown): unknown {
  if (!isObject(value)) return undefined;
  if (code === "FIELD_WRONG_TYPE") return message.startsWith("expected a list") ? [value] : undefined;
  if (code !== "DURATION_INVALID") return undefined;
  const { seconds = 0, nanos = 0, ...others } = value;
  const isWhole = Number.isSafeInteger(Number(seconds)) && Number.isSafeInteger(Number(nanos));
  const isDuration = isWhole && Object.keys(others).length === 0 && Number(nanos) >= 0 && Number(nanos) < 1e9;
  return isDuration ? `${Number(seconds)}.${String(Number(nanos)).padStart(9, "0")}s` : undefined;
}

function valueAt(whole: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, segment) => {
    if (Array.isArray(value)) return typeof segment === "number" ? value[segment] : undefined;
    return isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  }, whole);
}

function replaced(whole: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(whole)) {
    return whole.map((item: unknown, index) => (index === key ? replaced(item, rest, by) : item));
  }
  if (!isObject(whole) || !Object.hasOwn(whole, key)) return whole;
  return Object.fromEntries(
    Object.entries(whole).map(([name, inner]) => [name, name === String(key) ? replaced(inner, rest, by) : inner]),
  );
}

/** Without a field. A list loses all of its items with one, so that the others keep their places. */
function without(whole: unknown, path: Path): unknown {
  const last = path.at(-1);
  const outer = path.slice(0, -1);
  if (last === undefined) return undefined;
  if (typeof last === "number") return without(whole, outer);
  const around = valueAt(whole, outer);
  if (!isObject(around)) return whole;
  // What is missing cannot be taken out.
  if (!Object.hasOwn(around, last)) return without(whole, outer);
  return replaced(whole, outer, Object.fromEntries(Object.entries(around).filter(([name]) => name !== last)));
}
