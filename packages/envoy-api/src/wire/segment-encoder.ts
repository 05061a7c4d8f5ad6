/**
 * Encodes each segment once. Encoding a frame costs 0.4 µs, as much as finding and copying a cached one, so single
 * frames are not cached. A whole state is: its frames form runs of about 64 KB, and a state in which one resource of
 * 100,000 changed shares all runs but one with the previous state, which saves time and memory.
 */
import type { Resource, Variant } from "@xdskit/protocol";
import type { Segment } from "@xdskit/protocol/internal";
import { type FrameContent, FrameWriter } from "./frame-writer.ts";

/** Consecutive buffers of a response. */
export interface EncodedSegment {
  readonly chunks: readonly Uint8Array[];
  readonly byteLength: number;
}

/** Counts what was encoded, not found in a cache. */
export interface EncodingCounters {
  segmentsEncoded: number;
  /** Encoded resources, missing names and removed names. */
  framesEncoded: number;
  bodiesEncoded: number;
  /** Bytes written for all of these. */
  bytesEncoded: number;
}

/** A resource of at least this size is not copied: its own bytes become a chunk. */
const LARGE_RESOURCE_BYTES = 32 * 1024;
const RUN_BYTES = 64 * 1024;
const MIN_RUN_BYTES = 16 * 1024;
const MAX_RUN_BYTES = 128 * 1024;
/** The approximate size of a frame without the bytes of its resource. */
const FRAME_BYTES = 100;

/** Resources whose frames are one chunk. */
interface Run {
  readonly resources: readonly Resource[];
  readonly chunk: Uint8Array;
}

/** A segment of which some resources are encoded. */
interface Begun {
  readonly chunks: Uint8Array[];
  /** The first resource that is not. */
  next: number;
}

/** Encodes the segments of one variant. */
export class SegmentEncoder {
  readonly #counters: EncodingCounters;
  readonly #frames: FrameWriter;
  readonly #segments = new WeakMap<Segment, EncodedSegment>();
  readonly #begun = new WeakMap<Segment, Begun>();
  /** Whether `plain` encodes it. */
  readonly #isPlain = new WeakMap<Segment, boolean>();
  readonly #runByFirst = new WeakMap<Resource, Run>();
  readonly #variant: Variant;
  readonly #plain: SegmentEncoder | undefined;
  readonly #differs: (segment: Segment) => boolean;
  #hasRuns = false;

  /** `plain`: the encoder to share segments with, where `content` makes no difference. */
  constructor(
    variant: Variant,
    counters: EncodingCounters,
    content: FrameContent = "ttls-left-off",
    plain?: SegmentEncoder,
  ) {
    this.#variant = variant;
    this.#counters = counters;
    this.#plain = plain;
    this.#differs = content === "v2" ? hasWhatV2HasNot : hasTtls;
    this.#frames = new FrameWriter(variant, content);
  }

  /**
   * Encodes a segment: puts, then missing names, removed names and heartbeats, then errors. Returns the same object for
   * the same segment.
   */
  encode(segment: Segment): EncodedSegment {
    const known = this.#segments.get(segment);
    if (known !== undefined) return known;
    const encoded = this.#plainFor(segment)?.encode(segment) ?? this.#finish(segment);
    this.#segments.set(segment, encoded);
    return encoded;
  }

  /** Encodes a run of the resources of a segment, so that `encode` has less to do; false if they all are encoded. */
  encodeRun(segment: Segment): boolean {
    if (this.#segments.has(segment)) return false;
    const plain = this.#plainFor(segment);
    if (plain !== undefined) return plain.encodeRun(segment);
    const begun = this.#begun.get(segment) ?? { chunks: [], next: 0 };
    this.#begun.set(segment, begun);
    if (begun.next >= segment.puts.length) return false;
    this.#encodeNext(segment.puts, begun);
    // Other segments are encoded before the next run.
    this.#flush(begun.chunks);
    return true;
  }

  #plainFor(segment: Segment): SegmentEncoder | undefined {
    if (this.#plain === undefined) return undefined;
    const isPlain = this.#isPlain.get(segment) ?? !this.#differs(segment);
    this.#isPlain.set(segment, isPlain);
    return isPlain ? this.#plain : undefined;
  }

  #finish(segment: Segment): EncodedSegment {
    const begun = this.#begun.get(segment) ?? { chunks: [], next: 0 };
    this.#begun.delete(segment);
    const { chunks } = begun;
    while (begun.next < segment.puts.length) this.#encodeNext(segment.puts, begun);
    if (this.#variant === "delta") this.#encodeNames(segment, chunks);
    if (segment.errors !== undefined) this.#encodeErrors(segment.errors, chunks);
    this.#flush(chunks);
    const byteLength = chunks.reduce((total, chunk) => total + chunk.length, 0);
    this.#counters.segmentsEncoded++;
    return { chunks, byteLength };
  }

  /** Encodes a run, or takes one that exists. */
  #encodeNext(puts: readonly Resource[], begun: Begun): void {
    const run = this.#runAt(puts, begun.next);
    if (run === undefined) {
      begun.next = this.#encodeRun(puts, begun.next, begun.chunks);
      return;
    }
    this.#flush(begun.chunks);
    begun.chunks.push(run.chunk);
    begun.next += run.resources.length;
  }

  /** Encodes from `start` to the end of a run, and returns that end. */
  #encodeRun(puts: readonly Resource[], start: number, chunks: Uint8Array[]): number {
    const first = puts[start];
    if (first !== undefined && first.bytes.length >= LARGE_RESOURCE_BYTES) {
      this.#encodeLarge(first, chunks);
      return start + 1;
    }
    const end = this.#endOfRun(puts, start);
    for (let next = start; next < end; next++) {
      const resource = puts[next];
      if (resource !== undefined) this.#frames.resource(resource);
    }
    this.#counters.framesEncoded += end - start;
    if (this.#frames.byteLength >= MIN_RUN_BYTES) this.#keepRun(puts.slice(start, end), chunks);
    return end;
  }

  /**
   * Returns the end of a run from `start`: the start of an existing run, if that is neither too near nor too far, else
   * where the run is full. Without this, an inserted resource would shift every run after it.
   */
  #endOfRun(puts: readonly Resource[], start: number): number {
    let size = 0;
    let full: number | undefined;
    for (let next = start; next < puts.length; next++) {
      const resource = puts[next];
      if (resource === undefined || resource.bytes.length >= LARGE_RESOURCE_BYTES) return next;
      if (size >= MIN_RUN_BYTES && this.#runAt(puts, next) !== undefined) return next;
      if (size >= RUN_BYTES) {
        full ??= next;
        if (size >= MAX_RUN_BYTES || !this.#hasRuns) return full;
      }
      size += resource.bytes.length + FRAME_BYTES;
    }
    return full ?? puts.length;
  }

  #encodeLarge(resource: Resource, chunks: Uint8Array[]): void {
    this.#frames.resourceHead(resource);
    this.#flush(chunks);
    chunks.push(resource.bytes);
    this.#frames.resourceTail(resource);
    this.#flush(chunks); // so that the next run holds nothing but its own frames
    this.#counters.framesEncoded++;
  }

  #encodeNames({ missing, removed, heartbeats = [] }: Segment, chunks: Uint8Array[]): void {
    for (const name of missing) {
      this.#frames.missing(name);
      if (this.#frames.byteLength >= RUN_BYTES) this.#flush(chunks);
    }
    for (const name of removed) {
      this.#frames.removed(name);
      if (this.#frames.byteLength >= RUN_BYTES) this.#flush(chunks);
    }
    for (const heartbeat of heartbeats) {
      this.#frames.heartbeat(heartbeat);
      if (this.#frames.byteLength >= RUN_BYTES) this.#flush(chunks);
    }
    this.#counters.framesEncoded += missing.length + removed.length + heartbeats.length;
  }

  #encodeErrors(errors: readonly Resource[], chunks: Uint8Array[]): void {
    for (const { name, error } of errors) {
      if (error === undefined) continue;
      this.#frames.error(name, error);
      this.#counters.framesEncoded++;
      if (this.#frames.byteLength >= RUN_BYTES) this.#flush(chunks);
    }
  }

  #keepRun(resources: readonly Resource[], chunks: Uint8Array[]): void {
    const chunk = this.#flush(chunks);
    const [first] = resources;
    if (first === undefined || chunk === undefined) return;
    this.#runByFirst.set(first, { resources, chunk });
    this.#hasRuns = true;
  }

  #flush(chunks: Uint8Array[]): Uint8Array | undefined {
    if (this.#frames.byteLength === 0) return undefined;
    const chunk = this.#frames.take();
    this.#counters.bytesEncoded += chunk.length;
    chunks.push(chunk);
    return chunk;
  }

  /** Returns the run that holds exactly the resources at `start`. */
  #runAt(puts: readonly Resource[], start: number): Run | undefined {
    if (!this.#hasRuns) return undefined;
    const first = puts[start];
    const run = first === undefined ? undefined : this.#runByFirst.get(first);
    return run?.resources.every((resource, i) => resource === puts[start + i]) === true ? run : undefined;
  }
}

function hasTtls({ puts, heartbeats }: Segment): boolean {
  return heartbeats !== undefined || puts.some(({ ttlMs }) => ttlMs !== undefined);
}

function hasWhatV2HasNot({ puts }: Segment): boolean {
  return puts.some(({ doNotCache, metadata }) => doNotCache || metadata !== undefined);
}
