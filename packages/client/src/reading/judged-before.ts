import type { ReceivedResource } from "@xdskit/protocol/internal";

/** After this many misplaced resources, the rest are looked up by key instead of by position. */
const MOST_STRAYS = 16;
/** Larger resources are keyed by their first and last bytes only; a comparison confirms equality. */
const WHOLE_BYTES = 4096;
const SAMPLE_BYTES = 512;

/**
 * The valid resources of the last response of one type from one source. SotW repeats all resources whenever one
 * changes, so those with equal bytes need no second validation.
 *
 * Most servers keep the order, so a resource is first compared with the successor of the last match. If many have
 * moved, they are looked up in a table keyed by their bytes.
 */
export class JudgedBefore {
  #last: readonly (ReceivedResource | undefined)[] = [];
  #current: (ReceivedResource | undefined)[] = [];
  /** Positions in the last response by key. */
  #byKey: ReadonlyMap<number, number> | undefined;
  /** The position in the last response minus that in this one. */
  #shift = 0;
  #strays = 0;

  /** Begins a new response. */
  responseBegins(): void {
    this.#last = this.#current;
    this.#current = [];
    this.#byKey = undefined;
    this.#shift = 0;
    this.#strays = 0;
  }

  /** The earlier judgement of equal bytes; `place` is the position in this response. */
  find(place: number, bytes: Uint8Array): ReceivedResource | undefined {
    const there = this.#last.length === 0 ? -1 : this.#findPlace(place + this.#shift, bytes);
    if (there === -1) return undefined;
    this.#shift = there - place;
    const known = this.#last[there];
    this.#current[place] = known;
    return known;
  }

  /** Records a valid resource and its position. */
  add(place: number, judged: ReceivedResource): void {
    this.#current[place] = judged;
  }

  /** Also looks one position around, for one inserted or removed resource. */
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

/** A hash of the bytes (FNV-1a). */
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
