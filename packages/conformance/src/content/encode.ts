/** A field of a protobuf message for `encodeFields`; callers pass fields in the order of their numbers. */
export type Field = readonly [number: number, value: string | number | Uint8Array];

const utf8 = new TextEncoder();
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** Encodes a message. Strings are UTF-8, numbers are varints, byte arrays are bytes or nested messages. */
export function encodeFields(...fields: readonly Field[]): Uint8Array {
  const parts = fields.flatMap(([number, value]) => encodeField(number, value));
  const message = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let end = 0;
  for (const part of parts) {
    message.set(part, end);
    end += part.length;
  }
  return message;
}

function encodeField(number: number, value: string | number | Uint8Array): Uint8Array[] {
  if (typeof value === "number") return [varint((number << 3) | VARINT), varint(value)];
  const bytes = typeof value === "string" ? utf8.encode(value) : value;
  return [varint((number << 3) | LENGTH_DELIMITED), varint(bytes.byteLength), bytes];
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.from([...bytes, rest]);
}

const CHUNK_BYTES = 4096; // a number of arguments that every engine accepts

/** Converts bytes to a text with one character per byte, so that equal bytes give equal texts. */
export function textOfBytes(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES));
  }
  return text;
}
