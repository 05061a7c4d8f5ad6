import type { Reference, Resource, TypeUrl } from "@xdskit/protocol";

/**
 * Resources on their way to another thread, each at the same index of the lists: it takes less than half as long to receive
 * lists as to receive objects.
 */
export interface PackedResources {
  /** The bodies, one after the other: a view is cloned with all of the buffer that it is of, so none is sent. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
  /** What the numbers of types stand for: a text is copied each time that it is sent. */
  readonly types: readonly TypeUrl[];
  readonly typeNumbers: readonly number[];
  readonly names: readonly string[];
  readonly versions: readonly string[];
  readonly sums: readonly bigint[];
  /** Of all resources, one after the other. */
  readonly referenceTypeNumbers: readonly number[];
  readonly referenceNames: readonly string[];
  readonly referenceCounts: readonly number[];
  /** What else there is of a resource; undefined: nothing that is not so of most. */
  readonly rest: readonly (Rest | undefined)[];
}

type Rest = Omit<Resource, "type" | "name" | "bytes" | "references" | "version" | "sum">;

const usual = { aliases: [], ttlMs: undefined, doNotCache: false, metadata: undefined, onDemand: false } as const;
const USUAL_FIELDS = Object.keys(usual).length;

/** What one message holds: the thread that unpacks it has other things to do. */
const PART_BYTES = 256 * 1024;
const PART_RESOURCES = 500;
/** Roughly what a reference takes. */
const REFERENCE_BYTES = 64;

/** Cuts a list into parts that take a few milliseconds each to unpack. One resource is never cut. */
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

/** Makes the resources again. Each has bytes of its own, so that none keeps those of others in memory. */
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
