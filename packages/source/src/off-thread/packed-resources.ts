import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Reference, type Resource, type ResourceInput, type TypeUrl } from "@xdskit/protocol";

/**
 * Resources for another thread, as parallel lists: receiving lists takes less than half the time of receiving objects.
 */
export interface PackedResources {
  /** The concatenated bodies; sending views would clone the whole buffer of each. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
  /** The types that type numbers refer to; each string is sent only once. */
  readonly types: readonly TypeUrl[];
  readonly typeNumbers: readonly number[];
  readonly names: readonly string[];
  /** Of all resources, concatenated. */
  readonly referenceTypeNumbers: readonly number[];
  readonly referenceNames: readonly string[];
  readonly referenceCounts: readonly number[];
  /** The other fields of a resource with uncommon ones; undefined: it has none, and they follow from the content. */
  readonly rest: readonly (Rest | undefined)[];
}

type Rest = Omit<Resource, "type" | "name" | "bytes" | "references">;

/** How many fields a resource without uncommon ones has. */
const USUAL_FIELDS = 11;

/** The size of a message, small because the receiving thread has other work. */
const PART_BYTES = 256 * 1024;
const PART_RESOURCES = 500;
/** So many bytes of small bodies share memory: the most that one keeps if it outlives the others. */
const SHARED_BYTES = 1024;
/** The approximate size of a reference, in bytes. */
const REFERENCE_BYTES = 64;

const noDigest = (): bigint => 0n;

/**
 * Creates a resource to be packed. Its version and sum are right only if it has uncommon fields: those of the others are
 * made where they are unpacked, in a thread that has more time.
 */
export function createForPacking(input: ResourceInput): Resource {
  const resource = input.version === undefined ? createResource(input, noDigest) : undefined;
  return resource !== undefined && isUsual(resource) ? resource : createResource(input, contentDigest);
}

/** Splits a list into parts that take a few milliseconds each to unpack. A resource is never split. */
export function* packInParts(resources: readonly Resource[]): Generator<PackedResources> {
  let begin = 0;
  let bytes = 0;
  for (const [index, resource] of resources.entries()) {
    const size = resource.bytes.length + resource.references.length * REFERENCE_BYTES;
    if (index > begin && (bytes + size > PART_BYTES || index - begin === PART_RESOURCES)) {
      yield pack(resources.slice(begin, index));
      begin = index;
      bytes = 0;
    }
    bytes += size;
  }
  if (begin < resources.length) yield pack(resources.slice(begin));
}

function pack(resources: readonly Resource[]): PackedResources {
  const types = new TypeNumbers();
  const referenceTypeNumbers: number[] = [];
  const referenceNames: string[] = [];
  for (const { references } of resources) {
    for (const { type, name } of references) {
      referenceTypeNumbers.push(types.of(type));
      referenceNames.push(name);
    }
  }
  return {
    bytes: concatenate(resources),
    lengths: resources.map(({ bytes }) => bytes.length),
    typeNumbers: resources.map(({ type }) => types.of(type)),
    types: types.list,
    names: resources.map(({ name }) => name),
    referenceTypeNumbers,
    referenceNames,
    referenceCounts: resources.map(({ references }) => references.length),
    rest: resources.map(restOf),
  };
}

function concatenate(resources: readonly Resource[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(resources.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let offset = 0;
  for (const { bytes } of resources) {
    all.set(bytes, offset);
    offset += bytes.length;
  }
  return all;
}

class TypeNumbers {
  readonly list: TypeUrl[] = [];
  readonly #numbers = new Map<TypeUrl, number>();

  of(type: TypeUrl): number {
    const known = this.#numbers.get(type);
    if (known !== undefined) return known;
    this.#numbers.set(type, this.list.length);
    return this.list.push(type) - 1;
  }
}

function restOf(resource: Resource): Rest | undefined {
  if (isUsual(resource)) return undefined;
  const { type: _type, name: _name, bytes: _bytes, references: _references, ...rest } = resource;
  return rest.metadata === undefined ? rest : { ...rest, metadata: rest.metadata.slice() };
}

/** Whether a resource has no uncommon field; nothing is copied to find out. */
function isUsual(resource: Resource): boolean {
  const { aliases, ttlMs, doNotCache, metadata, onDemand } = resource;
  if (aliases.length > 0 || ttlMs !== undefined || doNotCache || metadata !== undefined || onDemand) return false;
  return Object.keys(resource).length === USUAL_FIELDS;
}

/** Unpacks resources. None keeps more of the others in memory than small bodies share. */
export function unpack(packed: PackedResources): readonly Resource[] {
  const { lengths, types, typeNumbers, names, rest } = packed;
  const bodies = new Bodies(packed.bytes);
  const references = packed.referenceNames.map(
    (name, index): Reference => ({ type: at(types, at(packed.referenceTypeNumbers, index)), name }),
  );
  let referencesEnd = 0;
  return names.map((name, index): Resource => {
    const referencesBegin = referencesEnd;
    referencesEnd += at(packed.referenceCounts, index);
    const packedFields = {
      type: at(types, at(typeNumbers, index)),
      name,
      bytes: bodies.next(at(lengths, index)),
      references: references.slice(referencesBegin, referencesEnd),
    };
    const other = rest[index];
    return other === undefined ? createResource(packedFields, contentDigest) : { ...packedFields, ...other };
  });
}

/** Copies concatenated bodies. Small ones share memory: a buffer of its own takes more than a small body. */
class Bodies {
  readonly #all: Uint8Array;
  /** Where the next body begins. */
  #begin = 0;
  #shared = new Uint8Array(0);
  #sharedBegin = 0;

  constructor(all: Uint8Array) {
    this.#all = all;
  }

  next(length: number): Uint8Array {
    const begin = this.#begin;
    this.#begin += length;
    if (this.#begin > this.#sharedBegin + this.#shared.length) {
      this.#shared = this.#all.slice(begin, begin + Math.max(length, SHARED_BYTES));
      this.#sharedBegin = begin;
    }
    return this.#shared.subarray(begin - this.#sharedBegin, this.#begin - this.#sharedBegin);
  }
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`expected ${index + 1} items or more, got ${list.length}`);
  return item;
}
