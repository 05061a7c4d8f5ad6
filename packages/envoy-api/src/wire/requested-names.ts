/**
 * The names in the requests of one State of the World stream. Such a client repeats all of its names in every ACK, up to
 * megabytes (client-behaviours G8). What is remembered per type is a digest of their bytes and, weakly, the names that were
 * read: whoever compares arrays by identity holds the last one anyway, and if nobody does, nothing is lost but the reading.
 */
import { parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { contentDigest } from "../digest.ts";
import { lengthTag, WireReader } from "./reader.ts";
import { readLocator } from "./resource-name.ts";
import { WireError } from "./wire-error.ts";

/** The fields of `DiscoveryRequest` that name resources. */
export const RESOURCE_NAMES: number = lengthTag(3);
export const RESOURCE_LOCATORS: number = lengthTag(7);

/** More in one request are refused: a name takes two bytes on the wire and forty in memory. */
export const MAX_NAMES = 1_000_000;

/** An aggregated stream that asks for more types than there are is forgotten from its oldest type on. */
const MAX_TYPES = 64;

const noNames: readonly string[] = [];

/** From so many bytes of names on, streams that ask for the same share one array of them. */
const SHARED_FROM_BYTES = 1024;

/**
 * Long lists of names, by the digest of their bytes, as long as anybody holds them: a thousand clients that ask for the same
 * 10,000 names would otherwise hold 500 MB of equal strings. Nobody can tell an array from here from one of his own.
 */
const sharedNames = new Map<bigint, WeakRef<readonly string[]>>();
const forgottenNames = new FinalizationRegistry<bigint>((digest) => {
  if (sharedNames.get(digest)?.deref() === undefined) sharedNames.delete(digest);
});

/** Where the names stand in a request: start and end of each stretch of fields that name resources. */
export class NameRanges {
  readonly bounds: number[] = [];
  /** Some of the fields are locators. */
  hasLocators = false;
  #count = 0;

  /** A field was passed over that names a resource. */
  add(start: number, end: number): void {
    this.#count++;
    if (this.#count > MAX_NAMES) throw new WireError(`more than ${MAX_NAMES} names in one request`);
    const last = this.bounds.length - 1;
    if (this.bounds[last] === start) this.bounds[last] = end;
    else this.bounds.push(start, end);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }
}

interface LastNames {
  readonly type: TypeUrl | undefined;
  digest: bigint | undefined;
  names: WeakRef<readonly string[]> | undefined;
}

/** What the last request for each type named. */
export class RequestedNames {
  readonly #lastByTypeText = new Map<string, LastNames>();

  /** The type and the names of a request; the same array again if their bytes are those of this type's request before. */
  read(
    typeText: string,
    bytes: Uint8Array,
    ranges: NameRanges,
  ): { type: TypeUrl | undefined; names: readonly string[] } {
    const last = this.#lastOf(typeText);
    if (ranges.isEmpty) return { type: last.type, names: noNames };
    const parts = partsOf(bytes, ranges);
    const digest = contentDigest(parts);
    const known = digest === last.digest ? last.names?.deref() : undefined;
    if (known !== undefined) return { type: last.type, names: known };
    const names = sharedOrRead(digest, parts);
    last.digest = digest;
    last.names = new WeakRef(names);
    return { type: last.type, names };
  }

  #lastOf(typeText: string): LastNames {
    const known = this.#lastByTypeText.get(typeText);
    if (known !== undefined) return known;
    const [oldest] = this.#lastByTypeText.keys();
    if (oldest !== undefined && this.#lastByTypeText.size >= MAX_TYPES) this.#lastByTypeText.delete(oldest);
    const last: LastNames = { type: parseTypeUrl(typeText), digest: undefined, names: undefined };
    this.#lastByTypeText.set(typeText, last);
    return last;
  }
}

function partsOf(bytes: Uint8Array, { bounds }: NameRanges): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let i = 0; i + 1 < bounds.length; i += 2) parts.push(bytes.subarray(bounds[i], bounds[i + 1]));
  return parts;
}

function sharedOrRead(digest: bigint, parts: readonly Uint8Array[]): readonly string[] {
  const byteLength = parts.reduce((total, part) => total + part.length, 0);
  if (byteLength < SHARED_FROM_BYTES) return readNames(parts);
  const shared = sharedNames.get(digest)?.deref();
  if (shared !== undefined) return shared;
  const names = readNames(parts);
  sharedNames.set(digest, new WeakRef(names));
  forgottenNames.register(names, digest);
  return names;
}

function readNames(parts: readonly Uint8Array[]): readonly string[] {
  const names: string[] = [];
  for (const part of parts) {
    const reader = new WireReader(part);
    while (reader.hasMore) {
      const tag = reader.tag();
      names.push(tag === RESOURCE_LOCATORS ? readLocator(reader.message()) : reader.string());
    }
  }
  return names;
}
