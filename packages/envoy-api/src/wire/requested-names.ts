/**
 * The names in the requests of one State of the World stream. A client repeats all its names in every ACK, up to
 * megabytes (client-behaviours G8). Kept per type are a digest of their bytes and, weakly, the decoded names: a user
 * who compares arrays by identity holds the last one anyway, and otherwise they are only decoded again.
 */
import type { TypeUrl } from "@xdskit/protocol";
import { contentDigest } from "../digest.ts";
import { lengthTag, WireReader } from "./reader.ts";
import { parseRequestedType } from "./requested-type.ts";
import { readLocator } from "./resource-name.ts";
import { WireError } from "./wire-error.ts";

/** The fields of `DiscoveryRequest` that name resources. */
export const RESOURCE_NAMES: number = lengthTag(3);
export const RESOURCE_LOCATORS: number = lengthTag(7);

/** The most names in one request: a name takes at least two bytes on the wire and forty in memory. */
export const MAX_NAMES = 1_000_000;

/** The most types kept per stream; beyond it, the oldest is dropped. */
const MAX_TYPES = 64;

const noNames: readonly string[] = [];

/** From this many bytes of names, streams with equal names share one array. */
const SHARED_FROM_BYTES = 1024;

/**
 * Long lists of names by the digest of their bytes, held weakly: a thousand clients that subscribe to the same 10,000
 * names would otherwise hold 500 MB of equal strings. The arrays are immutable, so sharing is not visible.
 */
const sharedNames = new Map<bigint, WeakRef<readonly string[]>>();
const forgottenNames = new FinalizationRegistry<bigint>((digest) => {
  if (sharedNames.get(digest)?.deref() === undefined) sharedNames.delete(digest);
});

/** The ranges of the name fields in a request, as pairs of start and end. */
export class NameRanges {
  readonly bounds: number[] = [];
  /** Whether some of the fields are locators. */
  hasLocators = false;
  #count = 0;

  /** Adds the range of a name field. */
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

/** The names of the last request for each type. */
export class RequestedNames {
  readonly #lastByTypeText = new Map<string, LastNames>();

  /**
   * Returns the type and the names of a request; the same array again if the bytes equal those of this type's previous
   * request.
   */
  read(
    typeText: string,
    bytes: Uint8Array,
    ranges: NameRanges,
  ): { type: TypeUrl | undefined; names: readonly string[] } {
    const last = this.#lastOf(typeText);
    if (ranges.isEmpty) return { type: last.type, names: noNames };
    const fields = fieldsIn(bytes, ranges);
    const digest = contentDigest([fields]);
    const known = digest === last.digest ? last.names?.deref() : undefined;
    if (known !== undefined) return { type: last.type, names: known };
    const names = sharedOrRead(digest, fields);
    last.digest = digest;
    last.names = new WeakRef(names);
    return { type: last.type, names };
  }

  #lastOf(typeText: string): LastNames {
    const known = this.#lastByTypeText.get(typeText);
    if (known !== undefined) return known;
    const [oldest] = this.#lastByTypeText.keys();
    if (oldest !== undefined && this.#lastByTypeText.size >= MAX_TYPES) this.#lastByTypeText.delete(oldest);
    const last: LastNames = { type: parseRequestedType(typeText), digest: undefined, names: undefined };
    this.#lastByTypeText.set(typeText, last);
    return last;
  }
}

/** The bytes of the name fields in one piece: a view for each range would cost 50 times the smallest range. */
function fieldsIn(bytes: Uint8Array, { bounds }: NameRanges): Uint8Array {
  if (bounds.length === 2) return bytes.subarray(bounds[0], bounds[1]);
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let byteLength = 0;
  for (let i = 0; i + 1 < bounds.length; i += 2) byteLength += (bounds[i + 1] ?? 0) - (bounds[i] ?? 0);
  const fields = Buffer.allocUnsafe(byteLength);
  let end = 0;
  for (let i = 0; i + 1 < bounds.length; i += 2) end += source.copy(fields, end, bounds[i], bounds[i + 1]);
  return fields;
}

function sharedOrRead(digest: bigint, fields: Uint8Array): readonly string[] {
  if (fields.length < SHARED_FROM_BYTES) return readNames(fields);
  const shared = sharedNames.get(digest)?.deref();
  if (shared !== undefined) return shared;
  const names = readNames(fields);
  sharedNames.set(digest, new WeakRef(names));
  forgottenNames.register(names, digest);
  return names;
}

function readNames(fields: Uint8Array): readonly string[] {
  const names: string[] = [];
  const reader = new WireReader(fields);
  while (reader.hasMore) {
    const tag = reader.tag();
    names.push(tag === RESOURCE_LOCATORS ? readLocator(reader.message()) : reader.string());
  }
  return names;
}
