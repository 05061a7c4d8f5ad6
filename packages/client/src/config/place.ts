import type { ValuePath } from "@xdskit/protocol/internal";
import { isObject } from "@xdskit/protocol/internal";

/** A value in a message, with proto field names, and its path. Wrong types are already reported and read as missing. */
export interface Place {
  readonly value: unknown;
  readonly path: ValuePath;
}

/** The value of a field, or of a nested field. */
export function at(place: Place, ...keys: readonly string[]): Place {
  let { value } = place;
  for (const key of keys) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return { value, path: [...place.path, ...keys] };
}

/** The first field that is set; the first of all if none is. */
export function firstOf(place: Place, ...paths: readonly (readonly string[])[]): Place {
  const places = paths.map((keys) => at(place, ...keys));
  return places.find(isPresent) ?? places[0] ?? place;
}

export function isPresent({ value }: Place): boolean {
  return value !== undefined && value !== null;
}

/** The items of a list. */
export function itemsOf({ value, path }: Place): readonly Place[] {
  return Array.isArray(value) ? value.map((item: unknown, index) => ({ value: item, path: [...path, index] })) : [];
}

/** The items of a list that may also be written as one object, an old form (C-CFG-03). */
export function listOf(place: Place): readonly Place[] {
  return isObject(place.value) ? [{ value: place.value, path: [...place.path, 0] }] : itemsOf(place);
}

/** The fields of an object, or the entries of a map. */
export function entriesOf({ value, path }: Place): readonly (readonly [key: string, place: Place])[] {
  if (!isObject(value)) return [];
  return Object.entries(value).map(([key, inner]) => [key, { value: inner, path: [...path, key] }] as const);
}

/** The string; "" for any other value. */
export function textOf({ value }: Place): string {
  return typeof value === "string" ? value : "";
}

/** The number; JSON prints 64-bit numbers as strings. */
export function numberOf({ value }: Place): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

export function isTrue({ value }: Place): boolean {
  return value === true;
}

/** A `google.protobuf.Duration` in milliseconds. */
export function durationMsOf({ value }: Place): number | undefined {
  const [, seconds] = typeof value === "string" ? (/^(-?[\d.]+)s$/.exec(value) ?? []) : [];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1e9) / 1e6;
}
