import type { ReceivedResource } from "@xdskit/protocol";

/** So many are judged anew before the others are looked for wherever they stood. */
const MOST_STRAYS = 16;
/** Of larger resources only the beginning and the end make up the key; that they are equal is seen by comparing. */
const WHOLE_BYTES = 4096;
const SAMPLE_BYTES = 512;

/**
 * The resources of the last response of one type from one source, as far as they were found good. State of the World repeats all there is
 * whenever one of them changes: what has equal bytes need not be read and judged again.
 *
 * Most servers repeat what there is in the same order, so a resource is compared with what stood behind that before it. Only where many are not
 * what stood there are they looked for by a key of their bytes, which is made of all that there were then.
 */
export class JudgedBefore {
  #last: readonly (ReceivedResource | undefined)[] = [];
  #current: (ReceivedResource | undefined)[] = [];
  /** Where in the last response something stood. */
  #byKey: ReadonlyMap<number, number> | undefined;
  /** How much further than in this one. */
  #shift = 0;
  #strays = 0;

  /** Another response is about to be judged. */
  responseBegins(): void {
    this.#last = this.#current;
    this.#current = [];
    this.#byKey = undefined;
    this.#shift = 0;
    this.#strays = 0;
  }

  /** The judgement of equal bytes, for those that stand in a place of the response. */
  find(place: number, bytes: Uint8Array): ReceivedResource | undefined {
    const there = this.#last.length === 0 ? -1 : this.#findPlace(place + this.#shift, bytes);
    if (there === -1) return undefined;
    this.#shift = there - place;
    const known = this.#last[there];
    this.#current[place] = known;
    return known;
  }

  /** What stands in a place was judged, and found good. */
  add(place: number, judged: ReceivedResource): void {
    this.#current[place] = judged;
  }

  /** One may have been put in, or taken out, just before. */
  #findPlace(likely: number, bytes: Uint8Array): number {
    for (const place of [likely, likely + 1, likely - 1]) if (isOf(this.#last[place], bytes)) return place;
    if (++this.#strays <= MOST_STRAYS) return -1;
    this.#byKey ??= indexOf(this.#last);
    const place = this.#byKey.get(keyOf(bytes)) ?? -1;
    return isOf(this.#last[place], bytes) ? place : -1;
  }
}

function isOf(judged: ReceivedResource | undefined, bytes: Uint8Array): boolean {
  return judged?.bytes !== undefined && Buffer.compare(judged.bytes, bytes) === 0;
}

function indexOf(all: readonly (ReceivedResource | undefined)[]): ReadonlyMap<number, number> {
  const byKey = new Map<number, number>();
  all.forEach((one, place) => {
    if (one?.bytes !== undefined) byKey.set(keyOf(one.bytes), place);
  });
  return byKey;
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
