import { type Dialect, forKind } from "../../dialect/dialect.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { Variant } from "../../message/variant.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";

/** Into what a body is cut: each resource in a response of its own, or responses of so many bytes at most. */
export type SplitLimit = "each-alone" | number;

/**
 * How the answers of one type are cut for a client; undefined: each is one response. In State of the World one response of
 * a full-state type has to hold everything (S-RES-03), and where an equal version is not sent again it has to mean all
 * there is.
 */
export function cutFor(variant: Variant, { kind, isFullState }: TypeTraits, dialect: Dialect): SplitLimit | undefined {
  if (variant === "delta" && dialect.deltaOnePerResponse) return "each-alone";
  if (variant === "sotw" && (isFullState || forKind(dialect.resumeSkip, kind))) return undefined;
  return forKind(dialect.maySplit, kind) ? dialect.maxResponseBytes : undefined;
}

/** What stands around a resource or a name on the wire: tags, lengths, a duration, a cache control. */
const FRAME_BYTES = 48;
/** Characters that are not ASCII are two or three bytes. */
const BYTES_PER_CHARACTER = 3;

/**
 * Bodies cut into parts (S-RES-07, S-RES-08). What is cut are segments, so bodies that share a segment share its pieces, and
 * everybody who is told a body is told the same parts: each is encoded once. Kept as long as the segment or the body.
 */
export class ResponseSplitter {
  readonly #sizes = new WeakMap<Segment, number>();
  readonly #pieces = new WeakMap<Segment, Map<number, readonly Segment[]>>();
  readonly #parts = new WeakMap<Body, Map<SplitLimit, readonly Body[]>>();

  /** The parts of a body, in order; the body itself if it need not be cut. No part is empty unless the body is. */
  of(body: Body, cut: SplitLimit): readonly Body[] {
    if (cut !== "each-alone" && this.#isWithin(body, cut)) return [body];
    const known = this.#parts.get(body)?.get(cut);
    if (known !== undefined) return known;
    const groups = cut === "each-alone" ? body.segments.flatMap(each) : this.#pack(body, cut);
    const parts = groups.length < 2 ? [body] : groups.map((segments) => ({ ...body, segments }));
    const byCut = this.#parts.get(body) ?? new Map<SplitLimit, readonly Body[]>();
    this.#parts.set(body, byCut.set(cut, parts));
    return parts;
  }

  #isWithin({ type, segments }: Body, maxBytes: number): boolean {
    let bytes = 0;
    for (const segment of segments) bytes += this.#sizeOf(segment, type);
    return bytes <= maxBytes;
  }

  #sizeOf(segment: Segment, type: string): number {
    const known = this.#sizes.get(segment);
    if (known !== undefined) return known;
    let bytes = 0;
    for (const put of segment.puts) bytes += sizeOfPut(put, type);
    for (const name of segment.missing) bytes += sizeOfName(name);
    for (const name of segment.removed) bytes += sizeOfName(name);
    for (const error of segment.errors ?? []) bytes += sizeOfError(error);
    this.#sizes.set(segment, bytes);
    return bytes;
  }

  /** Pieces one behind the other into as few responses as hold them. */
  #pack({ type, segments }: Body, maxBytes: number): readonly (readonly Segment[])[] {
    const groups: Segment[][] = [];
    let group: Segment[] = [];
    let bytes = 0;
    for (const piece of segments.flatMap((segment) => this.#piecesOf(segment, type, maxBytes))) {
      const size = this.#sizeOf(piece, type);
      if (size === 0) continue;
      if (group.length > 0 && bytes + size > maxBytes) {
        groups.push(group);
        group = [];
        bytes = 0;
      }
      group.push(piece);
      bytes += size;
    }
    if (group.length > 0) groups.push(group);
    return groups;
  }

  #piecesOf(segment: Segment, type: string, maxBytes: number): readonly Segment[] {
    if (this.#sizeOf(segment, type) <= maxBytes) return [segment];
    const known = this.#pieces.get(segment)?.get(maxBytes);
    if (known !== undefined) return known;
    const pieces = piecesOf(segment, type, maxBytes);
    const byLimit = this.#pieces.get(segment) ?? new Map<number, readonly Segment[]>();
    this.#pieces.set(segment, byLimit.set(maxBytes, pieces));
    return pieces;
  }
}

/** Removals travel together: they are no resources. */
function each({ puts, missing, removed, errors = [] }: Segment): readonly (readonly Segment[])[] {
  return [
    ...puts.map((put) => [{ ...nothing, puts: [put] }]),
    ...missing.map((name) => [{ ...nothing, missing: [name] }]),
    ...(removed.length > 0 ? [[{ ...nothing, removed }]] : []),
    ...(errors.length > 0 ? [[{ ...nothing, errors }]] : []),
  ];
}

const nothing: Segment = { puts: [], removed: [], missing: [] };

/** Cuts in order; what is larger than a piece may be is one alone. */
function piecesOf(segment: Segment, type: string, maxBytes: number): readonly Segment[] {
  const pieces: Piece[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  const pieceFor = (size: number): Piece => {
    const last = pieces.at(-1);
    bytes += size;
    if (last !== undefined && bytes <= maxBytes) return last;
    const piece = { puts: [], missing: [], removed: [], errors: [] };
    pieces.push(piece);
    bytes = size;
    return piece;
  };
  for (const put of segment.puts) pieceFor(sizeOfPut(put, type)).puts.push(put);
  for (const name of segment.missing) pieceFor(sizeOfName(name)).missing.push(name);
  for (const name of segment.removed) pieceFor(sizeOfName(name)).removed.push(name);
  for (const error of segment.errors ?? []) pieceFor(sizeOfError(error)).errors.push(error);
  return pieces;
}

interface Piece {
  readonly puts: Resource[];
  readonly missing: string[];
  readonly removed: string[];
  readonly errors: Resource[];
}

/** At most this many bytes on the wire, whatever the variant. */
function sizeOfPut({ name, bytes, aliases, version, metadata }: Resource, type: string): number {
  let characters = name.length + version.length;
  for (const alias of aliases) characters += alias.length + 2;
  return bytes.length + (metadata?.length ?? 0) + type.length + BYTES_PER_CHARACTER * characters + FRAME_BYTES;
}

/** A name may be its own alias (S-DLT-16). */
function sizeOfName(name: string): number {
  return 2 * BYTES_PER_CHARACTER * name.length + FRAME_BYTES;
}

function sizeOfError({ name, error }: Resource): number {
  return BYTES_PER_CHARACTER * (name.length + (error?.message.length ?? 0)) + FRAME_BYTES;
}
