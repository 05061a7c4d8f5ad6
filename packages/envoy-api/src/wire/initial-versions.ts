/**
 * `initial_resource_versions` of a delta request, decoded during iteration: a reconnecting client may list 100,000 of
 * them in 8 MB (client-behaviours D8), and most are compared once and dropped.
 */
import type { InitialVersions, ListedVersion, NumberedVersions, VersionCursor } from "@xdskit/protocol/internal";
import { ListedPairs } from "./listed-pairs.ts";
import { lengthTag, WireReader } from "./reader.ts";

/** The tag of one pair in `DeltaDiscoveryRequest`. */
export const VERSION_ENTRY: number = lengthTag(5);

const KEY = lengthTag(1);
const VALUE = lengthTag(2);

/** The pairs of shorter lists have no numbers: those are not worth their memory. */
const SHORTEST_NUMBERED = 256;
/** A length that takes one byte is below it. */
const TWO_BYTES = 0x80;

/**
 * Where an entry ends that begins at a position, if it has nothing but a name and a version, and its lengths take one byte
 * each; -1: it has not.
 */
function endOfPlain(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== VERSION_ENTRY) return -1;
  const length = bytes[start + 1] ?? TWO_BYTES;
  const nameLength = bytes[start + 3] ?? TWO_BYTES;
  if (bytes[start + 2] !== KEY || length >= TWO_BYTES || nameLength >= TWO_BYTES) return -1;
  const value = start + 4 + nameLength;
  const end = start + 2 + length;
  const isPlain = bytes[value] === VALUE && (bytes[value + 1] ?? TWO_BYTES) === end - value - 2;
  return isPlain && end <= bytes.length ? end : -1;
}

/** Returns how many such entries there are from `start` on, at most `most`, and where they end. */
export function findPlainEntries(
  bytes: Uint8Array,
  start: number,
  most: number,
): { readonly count: number; readonly end: number } {
  let end = start;
  for (let count = 0; count < most; count++) {
    const next = endOfPlain(bytes, end);
    if (next < 0) return { count, end };
    end = next;
  }
  return { count: most, end };
}

/** Skips an entry to check that it can be decoded, because the later iteration must not throw. */
export function checkVersionEntry(entry: WireReader): void {
  while (entry.hasMore) entry.skip(entry.tag());
}

/**
 * The pairs in part of a request whose entries were checked. It is a view that keeps the whole request in memory, so
 * drop it after answering the request. A repeated name is yielded each time.
 */
export class EncodedVersions implements InitialVersions {
  readonly size: number;
  readonly byteLength: number;
  readonly #bytes: Uint8Array;
  readonly #pairs: ListedPairs | undefined;
  #key: string | undefined;

  /**
   * The bytes reach from the first entry to the last, including any fields between. `keptBytes`: the length of the
   * message that they are part of.
   */
  constructor(bytes: Uint8Array, size: number, keptBytes: number) {
    this.#bytes = bytes;
    this.#pairs = size < SHORTEST_NUMBERED ? undefined : ListedPairs.shared;
    this.size = size;
    this.byteLength = keptBytes;
  }

  /** Computed on first use by comparing bytes with recent lists, which is 20 times faster than a digest. */
  get key(): string {
    this.#key ??= keyOf(this);
    return this.#key;
  }

  /** Whether two lists have equal bytes. */
  equals(other: EncodedVersions): boolean {
    return this.size === other.size && Buffer.compare(this.#bytes, other.#bytes) === 0;
  }

  *[Symbol.iterator](): Iterator<ListedVersion> {
    const cursor = new EncodedCursor(this.#bytes, undefined);
    while (cursor.next()) yield cursor.pair;
  }

  get numbered(): NumberedVersions | undefined {
    const pairs = this.#pairs;
    return pairs && { numbering: pairs, read: () => new EncodedCursor(this.#bytes, pairs) };
  }
}

class EncodedCursor implements VersionCursor {
  readonly #bytes: Uint8Array;
  readonly #pairs: ListedPairs | undefined;
  /** Where the present entry begins and ends. */
  #start = 0;
  #end = 0;
  #number = -1;

  constructor(bytes: Uint8Array, pairs: ListedPairs | undefined) {
    this.#bytes = bytes;
    this.#pairs = pairs;
  }

  get number(): number {
    return this.#number;
  }

  get pair(): ListedVersion {
    const reader = new WireReader(this.#bytes, this.#start, this.#end);
    reader.tag();
    return readEntry(reader.message());
  }

  next(): boolean {
    const start = this.#end;
    const end = endOfPlain(this.#bytes, start);
    if (end < 0) return this.#findNext();
    this.#start = start;
    this.#end = end;
    this.#number = this.#pairs?.numberOf(this.#bytes, start, end) ?? -1;
    return true;
  }

  #findNext(): boolean {
    const reader = new WireReader(this.#bytes, this.#end);
    this.#number = -1;
    while (reader.hasMore) {
      this.#start = reader.position;
      const tag = reader.tag();
      reader.skip(tag);
      this.#end = reader.position;
      if (tag === VERSION_ENTRY) return true;
    }
    return false;
  }
}

/** How many recent lists are compared. */
const LISTS_COMPARED = 32;
/** Recent lists, newest last; held weakly. */
let lately: readonly { readonly list: WeakRef<EncodedVersions>; readonly key: string }[] = [];
let keysGiven = 0;

function keyOf(list: EncodedVersions): string {
  const held = lately.filter((one) => one.list.deref() !== undefined);
  const equal = held.find((one) => one.list.deref()?.equals(list) === true);
  const key = equal?.key ?? `list ${++keysGiven}`;
  lately = equal === undefined ? [...held, { list: new WeakRef(list), key }].slice(-LISTS_COMPARED) : held;
  return key;
}

function readEntry(entry: WireReader): ListedVersion {
  let name = "";
  let version = "";
  while (entry.hasMore) {
    const tag = entry.tag();
    if (tag === KEY) name = entry.string();
    else if (tag === VALUE) version = entry.string();
    else entry.skip(tag);
  }
  return [name, version];
}
