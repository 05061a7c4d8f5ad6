/** One element of DER: a tag, a length and this content. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

export const derTag = { integer: 0x02, sequence: 0x30, utcTime: 0x17, generalizedTime: 0x18, version: 0xa0 } as const;

const LONG_LENGTH = 0x80;
const MAX_LENGTH_BYTES = 4;

/** Reads the elements of DER that follow each other. Throws a `RangeError` at a length beyond the end. */
export function readDer(bytes: Buffer): readonly DerElement[] {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { start, end } = readLength(bytes, at + 1);
    if (end > bytes.length) throw new RangeError("DER: an element is longer than what it is in");
    elements.push({ tag: bytes[at] ?? 0, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) });
    at = end;
  }
  return elements;
}

function readLength(bytes: Buffer, at: number): { readonly start: number; readonly end: number } {
  const first = bytes[at] ?? 0;
  const count = first < LONG_LENGTH ? 0 : first - LONG_LENGTH;
  const start = at + 1 + count;
  if (start > bytes.length || first === LONG_LENGTH || count > MAX_LENGTH_BYTES)
    throw new RangeError("DER: a malformed length");
  return { start, end: start + (count === 0 ? first : bytes.readUIntBE(at + 1, count)) };
}
