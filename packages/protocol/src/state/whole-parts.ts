import type { Segment } from "../message/body.ts";
import type { Resource } from "../resource/resource.ts";
import { SharedWhileUsed } from "./shared-while-used.ts";

/** A part ends at about this size, so that it is encoded to one chunk that no response copies. */
const PART_BYTES = 64 * 1024;
/** The least and the most that a part has if the next one starts where a part started before. */
const MIN_PART_BYTES = 16 * 1024;
const MAX_PART_BYTES = 128 * 1024;
/** The approximate size of a resource on the wire without its bytes. */
const FRAME_BYTES = 100;

/** A table in a higher layer. */
interface UpperTable {
  readonly resources: ReadonlyMap<string, Resource>;
  readonly changedAt: number;
}

/** The segments of parts from before a change, as far as anything uses them: a body of a State of the World. */
export type FormerParts = readonly WeakRef<Segment>[];

export const noParts: FormerParts = [];

/** Some of the resources that a wildcard covers, as one segment. */
class WholePart {
  static readonly #known = new WeakMap<Segment, WholePart>();
  readonly segment: Segment;
  #bytes: number | undefined;
  #names: ReadonlySet<string> | undefined;
  /** The segments without some names, by these names: views that hide the same share them. */
  #rests: SharedWhileUsed<Segment> | undefined;

  constructor(segment: Segment) {
    this.segment = segment;
    WholePart.#known.set(segment, this);
  }

  /** The part with this segment. */
  static of(segment: Segment): WholePart {
    return WholePart.#known.get(segment) ?? new WholePart(segment);
  }

  /** About how many bytes it takes on the wire. */
  get bytes(): number {
    this.#bytes ??= this.segment.puts.reduce((sum, put) => sum + bytesOf(put), 0);
    return this.#bytes;
  }

  /** The part without what a higher layer holds; this object if it holds nothing of the part. */
  without({ resources }: UpperTable): WholePart {
    const { puts } = this.segment;
    this.#names ??= new Set(puts.map(({ name }) => name));
    const [few, many] = resources.size < this.#names.size ? [resources, this.#names] : [this.#names, resources];
    const hidden: string[] = [];
    for (const name of few.keys()) if (many.has(name)) hidden.push(name);
    if (hidden.length === 0) return this;
    this.#rests ??= new SharedWhileUsed();
    const make = (): Segment => segmentOf(puts.filter(({ name }) => !resources.has(name)));
    return WholePart.of(this.#rests.get(JSON.stringify(hidden.sort()), make));
  }
}

/**
 * Everything of a table that a wildcard covers, in parts that stay the same objects while nothing in them changes. A
 * view in which a higher layer hides some of it has parts of its own only for what is hidden.
 */
export class WholeParts {
  readonly #parts: readonly WholePart[];
  readonly #rests = new WeakMap<UpperTable, { readonly changedAt: number; readonly rest: WeakRef<WholeParts> }>();
  readonly segments: readonly Segment[];

  private constructor(parts: readonly WholePart[]) {
    this.#parts = parts;
    this.segments = parts.map(({ segment }) => segment);
  }

  /** Cuts resources into parts; those of `former` that hold the same are used again. */
  static of(resources: readonly Resource[], former: FormerParts): WholeParts {
    const known = new Map<Resource | undefined, WholePart>();
    for (const ref of former) {
      const segment = ref.deref();
      if (segment !== undefined) known.set(segment.puts[0], WholePart.of(segment));
    }
    const parts: WholePart[] = [];
    let start = 0;
    while (start < resources.length) {
      const part = sameAt(resources, start, known) ?? new WholePart(segmentOf(cut(resources, start, known)));
      parts.push(part);
      start += part.segment.puts.length;
    }
    return new WholeParts(parts);
  }

  /** The parts, for `of` after a change, without keeping them in memory. */
  kept(): FormerParts {
    return this.segments.map((segment) => new WeakRef(segment));
  }

  /** All of it without what a higher layer holds; found once for all views that have that layer next above it. */
  without(upper: UpperTable): WholeParts {
    const { changedAt } = upper;
    const known = this.#rests.get(upper);
    const held = known?.changedAt === changedAt ? known.rest.deref() : undefined;
    if (held !== undefined) return held;
    const parts = this.#parts.map((part) => part.without(upper));
    const rest = new WholeParts(parts.filter(({ segment }) => segment.puts.length > 0));
    this.#rests.set(upper, { changedAt, rest: new WeakRef(rest) });
    return rest;
  }
}

type PartByFirst = ReadonlyMap<Resource | undefined, WholePart>;

/** The former part that holds exactly the resources at `start`; a small one only at the end, or small ones would pile up. */
function sameAt(resources: readonly Resource[], start: number, known: PartByFirst): WholePart | undefined {
  const part = known.get(resources[start]);
  if (part === undefined) return undefined;
  const { puts } = part.segment;
  if (part.bytes < MIN_PART_BYTES && start + puts.length < resources.length) return undefined;
  return puts.every((put, i) => put === resources[start + i]) ? part : undefined;
}

/**
 * The resources from `start` to the start of a former part, if that is neither too near nor too far, else until the part
 * is full. Otherwise one more or less would shift every part after it.
 */
function cut(resources: readonly Resource[], start: number, known: PartByFirst): readonly Resource[] {
  let bytes = 0;
  let full: number | undefined;
  for (let end = start; end < resources.length; end++) {
    const resource = resources[end];
    if (resource === undefined) break;
    if (bytes >= MIN_PART_BYTES && known.has(resource)) return resources.slice(start, end);
    if (bytes >= PART_BYTES) {
      full ??= end;
      if (bytes >= MAX_PART_BYTES || known.size === 0) break;
    }
    bytes += bytesOf(resource);
  }
  return resources.slice(start, full);
}

function bytesOf({ bytes }: Resource): number {
  return bytes.length + FRAME_BYTES;
}

function segmentOf(puts: readonly Resource[]): Segment {
  return { puts, removed: [], missing: [] };
}
