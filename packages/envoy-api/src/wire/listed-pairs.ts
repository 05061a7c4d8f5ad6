/**
 * A fleet that comes back lists the same names at the same versions, each client in an order of its own. Each pair gets a
 * number, by which it is told from others without being decoded: most of the time goes into waiting for memory, and bytes
 * are read in order where texts are not.
 */

/** How many pairs have a number; others are decoded each time. */
const MAX_PAIRS = 1 << 17;
/** How many bytes of pairs are kept; a bound of what a peer can make the process hold, whatever it lists. */
const MAX_BYTES = 8 * 1024 * 1024;
/** A pair that does not find its place in so many has no number: whoever makes hashes collide gains nothing. */
const MAX_PROBES = 8;
/** How many pairs and bytes there is room for at first. */
const FIRST_PAIRS = 1 << 10;
const FIRST_BYTES = 1 << 15;

/** Those of all lists that are held; who holds no list holds nothing. */
let shared: WeakRef<ListedPairs> | undefined;

/** The numbers of pairs of name and version. */
export class ListedPairs {
  /** Two numbers for each of twice as many slots as pairs: the hash, and the number of the pair plus one. */
  #slots = new Int32Array(4 * FIRST_PAIRS);
  /** Where the bytes of each pair begin; one more than there are pairs. */
  #starts = new Int32Array(FIRST_PAIRS + 1);
  #bytes = new Uint8Array(FIRST_BYTES);
  #count = 0;

  /** That of all lists that are held. */
  static get shared(): ListedPairs {
    const held = shared?.deref();
    if (held !== undefined) return held;
    const made = new ListedPairs();
    shared = new WeakRef(made);
    return made;
  }

  /** The number of the pair in these bytes, which are an entry of the list; -1: it has none. */
  numberOf(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const slot = this.#find(hash, bytes, start, end);
    if (slot < 0) return -1;
    const number = (this.#slots[slot + 1] ?? 0) - 1;
    return number < 0 ? this.#add(bytes, start, end, hash, slot) : number;
  }

  /** The slot of a pair, or the one that it may take; -1: there is none. */
  #find(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    let slot = slotOf(hash, slots.length);
    for (let probes = 0; probes < MAX_PROBES; probes++) {
      const number = (slots[slot + 1] ?? 0) - 1;
      if (number < 0 || (slots[slot] === hash && this.#is(number, bytes, start, end))) return slot;
      slot = (slot + 2) & (slots.length - 1);
    }
    return -1;
  }

  #is(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const kept = this.#bytes;
    const from = this.#starts[number] ?? 0;
    if ((this.#starts[number + 1] ?? 0) - from !== end - start) return false;
    const by = from - start;
    const fours = start + ((end - start) & ~3);
    let at = start;
    for (; at < fours; at += 4) if (fourAt(kept, at + by) !== fourAt(bytes, at)) return false;
    for (; at < end; at++) if (kept[at + by] !== bytes[at]) return false;
    return true;
  }

  #add(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const from = this.#starts[this.#count] ?? 0;
    const to = from + end - start;
    if (this.#count >= MAX_PAIRS || to > MAX_BYTES) return -1;
    if (to > this.#bytes.length) {
      const grown = new Uint8Array(Math.min(MAX_BYTES, 2 * to));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes.subarray(start, end), from);
    const number = this.#count++;
    this.#starts[this.#count] = to;
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = number + 1;
    if (this.#count < MAX_PAIRS && 4 * this.#count === this.#slots.length) this.#grow();
    return number;
  }

  #grow(): void {
    const before = this.#slots;
    const starts = new Int32Array(2 * this.#count + 1);
    starts.set(this.#starts);
    this.#starts = starts;
    this.#slots = new Int32Array(2 * before.length);
    for (let from = 0; from < before.length; from += 2) {
      const hash = before[from] ?? 0;
      if (before[from + 1] !== 0) this.#place(hash, before[from + 1] ?? 0);
    }
  }

  /** What finds no place has no number any more; the next list that has it gets another. */
  #place(hash: number, value: number): void {
    const slots = this.#slots;
    let slot = slotOf(hash, slots.length);
    for (let probes = 0; probes < MAX_PROBES; probes++) {
      if (slots[slot + 1] === 0) {
        slots[slot] = hash;
        slots[slot + 1] = value;
        return;
      }
      slot = (slot + 2) & (slots.length - 1);
    }
  }
}

/** Four bytes as one number: half the time of reading and comparing them one by one. */
function fourAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  const fours = start + ((end - start) & ~3);
  let hash = end - start;
  let at = start;
  for (; at < fours; at += 4) hash = mix(hash, fourAt(bytes, at));
  for (; at < end; at++) hash = mix(hash, bytes[at] ?? 0);
  return hash;
}

function mix(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x9e3779b1);
  return product ^ (product >>> 15);
}

/** Where to look first, in a table of that length. */
function slotOf(hash: number, length: number): number {
  return (2 * (hash ^ (hash >>> 15))) & (length - 1);
}
