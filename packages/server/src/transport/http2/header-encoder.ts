import { staticTable } from "./static-table.ts";

/** The headers or trailers of a response, by their lower-case names. */
export type ResponseFields = Readonly<Record<string, string | number>>;

/** Sets the size of the dynamic table to 0: nothing that this server sends refers to it. */
const NO_TABLE = 0x20;

const fieldIndex = new Map<string, number>();
const nameIndex = new Map<string, number>();
staticTable.forEach(([name, value], at) => {
  fieldIndex.set(`${name}: ${value}`, at + 1);
  if (!nameIndex.has(name)) nameIndex.set(name, at + 1);
});

const blocks = new WeakMap<ResponseFields, Uint8Array>();

/**
 * Encodes fields with the static table only (RFC 7541), so a block is the same on every connection; that of frozen fields
 * is kept.
 */
export function encodeHeaders(fields: ResponseFields): Uint8Array {
  const known = blocks.get(fields);
  if (known !== undefined) return known;
  const block = encode(fields);
  if (Object.isFrozen(fields)) blocks.set(fields, block);
  return block;
}

function encode(fields: ResponseFields): Uint8Array {
  const bytes: number[] = [NO_TABLE];
  // Pseudo-headers come first, whatever their place.
  const status = fields[":status"];
  if (status !== undefined) writeField(bytes, ":status", String(status));
  for (const [name, value] of Object.entries(fields)) {
    if (name !== ":status") writeField(bytes, name, String(value));
  }
  return Uint8Array.from(bytes);
}

function writeField(bytes: number[], name: string, text: string): void {
  const indexOfField = fieldIndex.get(`${name}: ${text}`);
  if (indexOfField !== undefined) {
    bytes.push(0x80 | indexOfField);
    return;
  }
  const indexOfName = nameIndex.get(name) ?? 0;
  writeNumber(bytes, 0x00, 4, indexOfName);
  if (indexOfName === 0) writeString(bytes, name);
  writeString(bytes, text);
}

function writeString(bytes: number[], text: string): void {
  const encoded = Buffer.from(text, "latin1");
  writeNumber(bytes, 0x00, 7, encoded.byteLength);
  bytes.push(...encoded);
}

/** A number whose first bits are the last of a byte. */
function writeNumber(bytes: number[], first: number, prefixBits: number, value: number): void {
  const mask = 2 ** prefixBits - 1;
  if (value < mask) {
    bytes.push(first | value);
    return;
  }
  bytes.push(first | mask);
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) bytes.push(0x80 | (rest & 0x7f));
  bytes.push(rest);
}
