import type { ReceivedResource } from "@xdskit/protocol";

/** The fewest that are remembered of a type. */
const FEWEST = 256;
/** Of larger resources only the beginning and the end make up the key; that they are equal is seen by comparing. */
const WHOLE_BYTES = 4096;
const SAMPLE_BYTES = 512;

/**
 * Resources of one type at one source that were judged lately, and found good. State of the World repeats all there is whenever one of them
 * changes: what has equal bytes need not be read and judged again. In two generations, so that what is not seen any more is forgotten.
 *
 * Most servers repeat what there is in the same order: a resource is compared with that in its place in the last response first, which
 * costs less than a key made of its bytes.
 */
export class JudgedBefore {
  #young = new Map<number, ReceivedResource>();
  #old: ReadonlyMap<number, ReceivedResource> = new Map();
  /** Those of the last response in their order. All are in the young generation. */
  #last: readonly ReceivedResource[] = [];
  #current: ReceivedResource[] = [];
  #place = 0;

  /** A response with so many resources is about to be judged. */
  responseBegins(resources: number): void {
    this.#last = this.#current;
    this.#current = [];
    this.#place = 0;
    if (this.#young.size < 2 * Math.max(FEWEST, resources)) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#last = [];
  }

  /** The judgement of equal bytes. */
  find(bytes: Uint8Array): ReceivedResource | undefined {
    const inPlace = this.#last[this.#place++];
    if (isOf(inPlace, bytes)) {
      this.#current.push(inPlace);
      return inPlace;
    }
    const known = this.#findAnywhere(bytes);
    if (known !== undefined) this.#current.push(known);
    return known;
  }

  add(bytes: Uint8Array, judged: ReceivedResource): void {
    this.#young.set(keyOf(bytes), judged);
    this.#current.push(judged);
  }

  #findAnywhere(bytes: Uint8Array): ReceivedResource | undefined {
    const key = keyOf(bytes);
    const young = this.#young.get(key);
    if (isOf(young, bytes)) return young;
    const old = this.#old.get(key);
    if (!isOf(old, bytes)) return undefined;
    this.#young.set(key, old);
    return old;
  }
}

function isOf(judged: ReceivedResource | undefined, bytes: Uint8Array): judged is ReceivedResource {
  return judged?.bytes !== undefined && Buffer.compare(judged.bytes, bytes) === 0;
}

/** A number that equal bytes have in common, and few others: FNV-1a. */
function keyOf(bytes: Uint8Array): number {
  const seed = 0x811c9dc5 ^ bytes.length;
  if (bytes.length <= WHOLE_BYTES) return hash(bytes, 0, bytes.length, seed);
  return hash(bytes, bytes.length - SAMPLE_BYTES, bytes.length, hash(bytes, 0, SAMPLE_BYTES, seed));
}

function hash(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let sum = seed;
  for (let at = start; at < end; at++) sum = Math.imul(sum ^ (bytes[at] ?? 0), 0x01000193);
  return sum;
}
