/**
 * What plain data costs once it is decoded, in bytes of heap: upper bounds of what `xds serve` was seen to keep
 * (docs/decisions/0127).
 */
const TEXT_BYTES = 32;
const VALUE_BYTES = 16;
const FIELD_BYTES = 24;
const EMPTY_BYTES = 72;
/** A list has room for more elements than it was given, an object perhaps a layout of its own. */
const FILLED_BYTES = 200;
const WIDE_TEXT = /[\u0100-\uffff]/;

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

export function bytesOfText(text: string): number {
  return TEXT_BYTES + lengthOf(text);
}

/** A text takes a byte for each character, or two if one of them is beyond Latin-1. */
export function lengthOf(text: string): number {
  return WIDE_TEXT.test(text) ? 2 * text.length : text.length;
}
