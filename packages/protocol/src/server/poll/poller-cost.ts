import type { NameList } from "../subscription/names.ts";

/**
 * What a remembered poller costs, in bytes of heap: upper bounds of what `xds serve` was seen to keep, with everything
 * that it keeps elsewhere (docs/decisions/0127).
 */
const POLLER_BYTES = 3_072;
const NAME_BYTES = 128;
/** A missing name has an error of its own in responses that report it. */
const MISSING_NAME_BYTES = 512;
const TEXT_BYTES = 32;
const VALUE_BYTES = 16;
const FIELD_BYTES = 24;
const EMPTY_BYTES = 72;
/** A list has room for more elements than it was given, an object perhaps a layout of its own. */
const FILLED_BYTES = 200;
const WIDE_TEXT = /[\u0100-\uffff]/;

/** The cost of a poller, without its node and the names that it asks for. */
export function bytesOfPoller(key: string, error: string | undefined): number {
  return POLLER_BYTES + bytesOfText(key) + (error === undefined ? 0 : bytesOfText(error));
}

/** The cost of names that are asked for, any of which may be missing. */
export function bytesOfNames(names: NameList, reportsMissing: boolean): number {
  let bytes = 0;
  for (const name of names) bytes += lengthOf(name);
  return bytes + names.size * (reportsMissing ? NAME_BYTES + MISSING_NAME_BYTES : NAME_BYTES);
}

/** The cost of a node, or of any other plain data as it is decoded: up to 90 times the bytes of its JSON. */
export function bytesOfValue(value: unknown): number {
  if (typeof value === "string") return bytesOfText(value);
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  let bytes = 0;
  if (Array.isArray(value)) for (const element of value) bytes += bytesOfValue(element);
  else
    for (const [name, field] of Object.entries(value)) bytes += FIELD_BYTES + bytesOfText(name) + bytesOfValue(field);
  return bytes + (bytes === 0 ? EMPTY_BYTES : FILLED_BYTES);
}

function bytesOfText(text: string): number {
  return TEXT_BYTES + lengthOf(text);
}

/** A text takes a byte for each character, or two if one of them is beyond Latin-1. */
function lengthOf(text: string): number {
  return WIDE_TEXT.test(text) ? 2 * text.length : text.length;
}
