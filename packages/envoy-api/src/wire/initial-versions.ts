/**
 * `initial_resource_versions` of a delta request, decoded during iteration: a reconnecting client may list 100,000 of
 * them in 8 MB (client-behaviours D8), and most are compared once and dropped.
 */
import type { InitialVersions } from "@xdskit/protocol/internal";
import { lengthTag, WireReader } from "./reader.ts";

/** The tag of one pair in `DeltaDiscoveryRequest`. */
export const VERSION_ENTRY: number = lengthTag(5);

const KEY = lengthTag(1);
const VALUE = lengthTag(2);

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
  #key: string | undefined;

  /**
   * The bytes reach from the first entry to the last, including any fields between. `keptBytes`: the length of the
   * message that they are part of.
   */
  constructor(bytes: Uint8Array, size: number, keptBytes: number) {
    this.#bytes = bytes;
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

  *[Symbol.iterator](): Iterator<readonly [name: string, version: string]> {
    const reader = new WireReader(this.#bytes);
    while (reader.hasMore) {
      const tag = reader.tag();
      if (tag === VERSION_ENTRY) yield readEntry(reader.message());
      else reader.skip(tag);
    }
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

function readEntry(entry: WireReader): readonly [name: string, version: string] {
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
