import { type Dialect, forKind } from "../../dialect/dialect.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { Variant } from "../../message/variant.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";

/** How a body is split: each resource in a response of its own, or responses of at most so many bytes. */
export type SplitLimit = "each-alone" | number;

/**
 * How the answers of a type are split for a client; undefined: each is one response. In State of the World, one
 * response of a full-state type has to hold everything (S-RES-03), and so does one whose equal version is skipped at a
 * reconnect.
 */
export function cutFor(variant: Variant, { kind, isFullState }: TypeTraits, dialect: Dialect): SplitLimit | undefined {
  if (variant === "delta" && dialect.deltaOnePerResponse) return "each-alone";
  if (variant === "sotw" && (isFullState || forKind(dialect.resumeSkip, kind))) return undefined;
  return forKind(dialect.maySplit, kind) ? dialect.maxResponseBytes : undefined;
}

/** The bytes around a resource or a name on the wire: tags, lengths, a duration, a cache control. */
const FRAME_BYTES = 48;
/** A character outside ASCII takes two or three bytes. */
const BYTES_PER_CHARACTER = 3;

/**
 * Splits bodies into parts (S-RES-07, S-RES-08). Segments are split, so bodies that share a segment share its pieces,
 * and all clients that are sent a body are sent the same parts: each is encoded once. Parts live as long as their
 * segment or body.
 */
export class ResponseSplitter {
  readonly #sizes = new WeakMap<Segment, number>();
  readonly #pieces = new WeakMap<Segment, Map<number, readonly Segment[]>>();
  readonly #parts = new WeakMap<Body, Map<SplitLimit, readonly Body[]>>();

  /** The parts of a body in order, or the body itself if it fits. No part is empty unless the body is. */
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

  /** Packs pieces in order into as few responses as hold them. */
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
    const pieces = piecesOf(segment, type, maxBytes, (piece, bytes) => this.#sizes.set(piece, bytes));
    const byLimit = this.#pieces.get(segment) ?? new Map<number, readonly Segment[]>();
    this.#pieces.set(segment, byLimit.set(maxBytes, pieces));
    return pieces;
  }
}

/** Removals go into one response: they are no resources. */
function each({ puts, missing, removed, errors = [] }: Segment): readonly (readonly Segment[])[] {
  return [
    ...puts.map((put) => [{ ...nothing, puts: [put] }]),
    ...missing.map((name) => [{ ...nothing, missing: [name] }]),
    ...(removed.length > 0 ? [[{ ...nothing, removed }]] : []),
    ...(errors.length > 0 ? [[{ ...nothing, errors }]] : []),
  ];
}

const nothing: Segment = { puts: [], removed: [], missing: [] };

/** Splits in order; an element above the limit is a piece of its own. `weighed`: is told the bytes of each piece. */
function piecesOf(
  segment: Segment,
  type: string,
  maxBytes: number,
  weighed: (piece: Segment, bytes: number) => void,
): readonly Segment[] {
  const pieces: Piece[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  const pieceFor = (size: number): Piece => {
    const last = pieces.at(-1);
    bytes += size;
    if (last !== undefined && bytes <= maxBytes) return last;
    if (last !== undefined) weighed(last, bytes - size);
    const piece = { puts: [], missing: [], removed: [], errors: [] };
    pieces.push(piece);
    bytes = size;
    return piece;
  };
  for (const put of segment.puts) pieceFor(sizeOfPut(put, type)).puts.push(put);
  for (const name of segment.missing) pieceFor(sizeOfName(name)).missing.push(name);
  for (const name of segment.removed) pieceFor(sizeOfName(name)).removed.push(name);
  for (const error of segment.errors ?? []) pieceFor(sizeOfError(error)).errors.push(error);
  const last = pieces.at(-1);
  if (last !== undefined) weighed(last, bytes);
  return pieces;
}

interface Piece {
  readonly puts: Resource[];
  readonly missing: string[];
  readonly removed: string[];
  readonly errors: Resource[];
}

/** An upper bound of the bytes on the wire, in either variant. */
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
