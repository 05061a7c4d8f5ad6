import type { Reference, Resource, TypeUrl } from "@xdskit/protocol";

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
  readonly versions: readonly string[];
  readonly sums: readonly bigint[];
  /** Of all resources, concatenated. */
  readonly referenceTypeNumbers: readonly number[];
  readonly referenceNames: readonly string[];
  readonly referenceCounts: readonly number[];
  /** The uncommon fields of a resource; undefined: none. */
  readonly rest: readonly (Rest | undefined)[];
}

type Rest = Omit<Resource, "type" | "name" | "bytes" | "references" | "version" | "sum">;

const usual = { aliases: [], ttlMs: undefined, doNotCache: false, metadata: undefined, onDemand: false } as const;
const USUAL_FIELDS = Object.keys(usual).length;

/** The size of a message, small because the receiving thread has other work. */
const PART_BYTES = 256 * 1024;
const PART_RESOURCES = 500;
/** The approximate size of a reference, in bytes. */
const REFERENCE_BYTES = 64;

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
  const numbers = new Map<TypeUrl, number>();
  const numberOf = ({ type }: Pick<Resource, "type">): number => {
    const known = numbers.get(type) ?? numbers.size;
    numbers.set(type, known);
    return known;
  };
  const references = resources.flatMap((resource) => resource.references);
  const typeNumbers = resources.map(numberOf);
  const referenceTypeNumbers = references.map(numberOf);
  return {
    bytes: concatenate(resources.map(({ bytes }) => bytes)),
    lengths: resources.map(({ bytes }) => bytes.length),
    types: [...numbers.keys()],
    typeNumbers,
    names: resources.map(({ name }) => name),
    versions: resources.map(({ version }) => version),
    sums: resources.map(({ sum }) => sum),
    referenceTypeNumbers,
    referenceNames: references.map(({ name }) => name),
    referenceCounts: resources.map((resource) => resource.references.length),
    rest: resources.map(restOf),
  };
}

function concatenate(bodies: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(bodies.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const body of bodies) {
    bytes.set(body, offset);
    offset += body.length;
  }
  return bytes;
}

function restOf(resource: Resource): Rest | undefined {
  const {
    type: _type,
    name: _name,
    bytes: _bytes,
    references: _references,
    version: _version,
    sum: _sum,
    ...rest
  } = resource;
  const { aliases, ttlMs, doNotCache, metadata, onDemand } = rest;
  const isUsual = aliases.length === 0 && ttlMs === undefined && !doNotCache && metadata === undefined && !onDemand;
  if (isUsual && Object.keys(rest).length === USUAL_FIELDS) return undefined;
  return metadata === undefined ? rest : { ...rest, metadata: metadata.slice() };
}

/** Unpacks resources. Each gets its own bytes, so that none keeps the others in memory. */
export function unpack(packed: PackedResources): readonly Resource[] {
  const { bytes, lengths, types, typeNumbers, names, versions, sums, rest } = packed;
  const references = packed.referenceNames.map(
    (name, index): Reference => ({ type: at(types, at(packed.referenceTypeNumbers, index)), name }),
  );
  let bodyEnd = 0;
  let referencesEnd = 0;
  return names.map((name, index): Resource => {
    const bodyBegin = bodyEnd;
    const referencesBegin = referencesEnd;
    bodyEnd += at(lengths, index);
    referencesEnd += at(packed.referenceCounts, index);
    const { aliases, ttlMs, doNotCache, metadata, onDemand, ...rare } = rest[index] ?? usual;
    return {
      type: at(types, at(typeNumbers, index)),
      name,
      bytes: bytes.slice(bodyBegin, bodyEnd),
      aliases,
      ttlMs,
      doNotCache,
      metadata,
      onDemand,
      references: references.slice(referencesBegin, referencesEnd),
      version: at(versions, index),
      sum: at(sums, index),
      ...rare,
    };
  });
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`expected ${index + 1} items or more, got ${list.length}`);
  return item;
}
