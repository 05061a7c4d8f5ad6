/**
 * Bits of the code of each byte, 32 in a row, and of the end of a string (RFC 7541 appendix B). The code is canonical:
 * codes of one length are consecutive, in the order of their bytes.
 */
// biome-ignore format: a table
const CODE_BITS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];
const END_OF_STRING = 256;
const SHORTEST_BITS = 5;
const LONGEST_BITS = 30;

/** Symbols in the order of their codes. */
const symbols: readonly number[] = CODE_BITS.map((_, symbol) => symbol).sort(
  (left, right) => (CODE_BITS[left] ?? 0) - (CODE_BITS[right] ?? 0) || left - right,
);
/** By length: the codes of this length are below it, as 32 bits that begin with the code. */
const codeEnds = new Float64Array(LONGEST_BITS + 1);
/** By length: what to add to a code for its place in `symbols`. */
const codeOffsets = new Int32Array(LONGEST_BITS + 1);

let nextCode = 0;
let placed = 0;
for (let bits = SHORTEST_BITS; bits <= LONGEST_BITS; bits++) {
  const count = CODE_BITS.filter((codeBits) => codeBits === bits).length;
  nextCode *= 2;
  codeOffsets[bits] = placed - nextCode;
  nextCode += count;
  placed += count;
  codeEnds[bits] = nextCode * 2 ** (32 - bits);
}

/** Reused: a string is read out at once. */
let scratch = Buffer.allocUnsafe(1_024);

/** Decodes a string between two positions; undefined if it is invalid. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  const mostBytes = Math.floor(((end - start) * 8) / SHORTEST_BITS);
  if (mostBytes > scratch.byteLength) scratch = Buffer.allocUnsafe(mostBytes);
  const endBit = end * 8;
  let length = 0;
  for (let bit = start * 8; bit < endBit; ) {
    const window = windowAt(bytes, bit, end);
    let bits = SHORTEST_BITS;
    while (window >= (codeEnds[bits] ?? Number.POSITIVE_INFINITY)) bits++;
    if (bit + bits > endBit) {
      // The rest is padding: fewer than eight bits, all 1.
      if (endBit - bit >= 8 || window !== 0xff_ff_ff_ff) return undefined;
      break;
    }
    const symbol = symbols[(window >>> (32 - bits)) + (codeOffsets[bits] ?? 0)] ?? END_OF_STRING;
    if (symbol === END_OF_STRING) return undefined;
    scratch[length++] = symbol;
    bit += bits;
  }
  return scratch.toString("latin1", 0, length);
}

/** The 32 bits from a bit on; after the end they are 1. */
function windowAt(bytes: Uint8Array, bit: number, end: number): number {
  const at = bit >>> 3;
  const shift = bit & 7;
  const byte = (index: number): number => (index < end ? (bytes[index] ?? 0xff) : 0xff);
  const first = (byte(at) << 24) | (byte(at + 1) << 16) | (byte(at + 2) << 8) | byte(at + 3);
  return ((first << shift) | (byte(at + 4) >>> (8 - shift))) >>> 0;
}
