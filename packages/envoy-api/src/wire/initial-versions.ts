/**
 * `initial_resource_versions` of a delta request, read as they are walked: a client that comes back may list 100,000 of them
 * in 8 MB (client-behaviours D8), and most are compared once and forgotten.
 */
import type { InitialVersions } from "@xdskit/protocol";
import { lengthTag, WireReader } from "./reader.ts";

/** The field of `DeltaDiscoveryRequest` that holds one pair. */
export const VERSION_ENTRY: number = lengthTag(5);

const KEY = lengthTag(1);
const VALUE = lengthTag(2);

/** Passes over one entry and makes sure that it can be read: a walk over the pairs must not throw in the middle. */
export function checkVersionEntry(entry: WireReader): void {
  while (entry.hasMore) entry.skip(entry.tag());
}

/**
 * The pairs in a part of a request, each entry of which was checked. It is a view: as long as it is held, so is the whole
 * request; whoever answers the request drops it. A name that occurs twice is given twice, as it stands.
 */
export class EncodedVersions implements InitialVersions {
  readonly size: number;
  readonly #bytes: Uint8Array;
  #key: string | undefined;

  /** The bytes are those from the first entry to the last, with whatever fields there are between. */
  constructor(bytes: Uint8Array, size: number) {
    this.#bytes = bytes;
    this.size = size;
  }

  /** Found when it is first asked for, by comparing bytes with the lists asked about lately: 20 times faster than a digest. */
  get key(): string {
    this.#key ??= keyOf(this);
    return this.#key;
  }

  /** Whether the bytes are those of another list. */
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

/** How many lists that are still held are compared with. */
const LISTS_COMPARED = 32;
/** The lists asked about lately, newest last; they live only as long as somebody compares with them. */
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
