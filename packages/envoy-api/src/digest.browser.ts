/** Replaces `digest.ts` in a browser, which has no synchronous hash: makes the same digests in JavaScript. */
import type * as digest from "./digest.ts";

const LENGTH_BYTES = 4;
const BLOCK_BYTES = 64;
const BIT_COUNT_BYTES = 8;
const ROUNDS = 64;

/**
 * Returns the first 32 bits of the fractional parts of a root of each of the first primes (FIPS 180-4, 4.2.2 and
 * 5.3.3).
 */
function rootsOfPrimes(count: number, root: (prime: number) => number): Uint32Array {
  const primes: number[] = [];
  for (let next = 2; primes.length < count; next++) {
    if (primes.every((prime) => next % prime !== 0)) primes.push(next);
  }
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}

const CONSTANTS = rootsOfPrimes(ROUNDS, Math.cbrt);
const INITIAL_STATE = rootsOfPrimes(8, Math.sqrt);
const utf8 = new TextEncoder();

/**
 * Same as in `digest.ts`: SHA-256 truncated to 128 bits over the parts in order, each preceded by its length in bytes.
 */
export const contentDigest: typeof digest.contentDigest = (parts) => {
  const [a = 0, b = 0, c = 0, d = 0] = sha256(layOut(parts));
  return (BigInt(a) << 96n) | (BigInt(b) << 64n) | (BigInt(c) << 32n) | BigInt(d);
};

function layOut(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const encoded = parts.map((part) => (typeof part === "string" ? utf8.encode(part) : part));
  const laidOut = new Uint8Array(encoded.reduce((total, part) => total + LENGTH_BYTES + part.length, 0));
  const view = new DataView(laidOut.buffer);
  let end = 0;
  for (const part of encoded) {
    view.setUint32(end, part.length, true);
    laidOut.set(part, end + LENGTH_BYTES);
    end += LENGTH_BYTES + part.length;
  }
  return laidOut;
}

function sha256(bytes: Uint8Array): Uint32Array {
  const state = INITIAL_STATE.slice();
  const padded = pad(bytes);
  const words = new Uint32Array(ROUNDS);
  for (let start = 0; start < padded.byteLength; start += BLOCK_BYTES) addBlock(state, padded, start, words);
  return state;
}

/** Appends one set bit, zeros up to a whole block, and the length in bits at its end. */
function pad(bytes: Uint8Array): DataView {
  const blocks = Math.floor((bytes.length + BIT_COUNT_BYTES) / BLOCK_BYTES) + 1;
  const padded = new Uint8Array(blocks * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - BIT_COUNT_BYTES, BigInt(bytes.length) * 8n);
  return view;
}

/** FIPS 180-4, 6.2.2. `words` is scratch memory. */
function addBlock(state: Uint32Array, bytes: DataView, start: number, words: Uint32Array): void {
  for (let i = 0; i < 16; i++) words[i] = bytes.getUint32(start + 4 * i);
  for (let i = 16; i < ROUNDS; i++) {
    const [early, late] = [at(words, i - 15), at(words, i - 2)];
    const mixedEarly = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const mixedLate = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[i] = at(words, i - 16) + mixedEarly + at(words, i - 7) + mixedLate;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < ROUNDS; i++) {
    const mixedE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + mixedE + choice + at(CONSTANTS, i) + at(words, i)) | 0;
    const mixedA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + mixedA + majority) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = at(state, i) + word;
  });
}

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
