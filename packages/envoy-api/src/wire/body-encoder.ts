/**
 * Encodes each response once for all streams that get it: a header, the frames of the body's segments, and as the last
 * field the nonce, the only part that differs per stream. Protobuf allows fields in any order and concatenated repeated
 * fields. The cache holds `Segment` and `Body` weakly, so its entries are freed with them.
 */
import type { ApiVersion, Variant } from "@xdskit/protocol";
import type { Body } from "@xdskit/protocol/internal";
import { lengthTag } from "./reader.ts";
import { type EncodingCounters, SegmentEncoder } from "./segment-encoder.ts";
import { WireWriter, writeVarint } from "./writer.ts";

/** An encoded response without its nonce. */
export interface EncodedBody {
  /** To be written one after another. Do not change them: they are shared, some with the resources themselves. */
  readonly chunks: readonly Uint8Array[];
  readonly byteLength: number;
}

/** Encodes responses; one per server. */
export interface BodyEncoder {
  /**
   * Encodes a body for an API version of the messages; returns the same object for the same arguments.
   *
   * @default v3
   */
  encode(body: Body, apiVersion?: ApiVersion): EncodedBody;
  /**
   * Encodes about 64 KB of a body, so that `encode` has less to do; false if there is nothing left of which it could relieve
   * it. For large bodies, which would take a turn of the event loop too long.
   */
  encodeSome(body: Body, apiVersion?: ApiVersion): boolean;
  /** Encodes the nonce, the last field of the message. */
  encodeNonce(variant: Variant, nonce: string): Uint8Array;
  /**
   * Counts what was encoded rather than found in the cache: equal for one stream and for ten thousand with the same
   * content.
   */
  readonly counters: Readonly<EncodingCounters>;
}

/** A body of up to this size is one chunk; above it, chunks of `SMALL_CHUNK_BYTES` or more stay separate. */
const ONE_CHUNK_BYTES = 64 * 1024;
const SMALL_CHUNK_BYTES = 16 * 1024;

const NONCE = lengthTag(5);

/** Creates an encoder that adds the control plane identifier to responses (S-RES-16); none if it is "". */
export function createBodyEncoder(options: { readonly controlPlane: string }): BodyEncoder {
  return new SharedBodyEncoder(options.controlPlane);
}

class SharedBodyEncoder implements BodyEncoder {
  readonly counters: EncodingCounters = { segmentsEncoded: 0, framesEncoded: 0, bodiesEncoded: 0, bytesEncoded: 0 };
  readonly #controlPlane: string;
  readonly #segments: Readonly<Record<Variant, SegmentEncoder>>;
  readonly #segmentsWithTtls: Readonly<Record<Variant, SegmentEncoder>>;
  readonly #deltaSegmentsOfV2: SegmentEncoder;
  readonly #bodies = new WeakMap<Body, EncodedBody>();
  readonly #deltaBodiesOfV2 = new WeakMap<Body, EncodedBody>();
  readonly #headerWriter = new WireWriter();

  constructor(controlPlane: string) {
    this.#controlPlane = controlPlane;
    this.#segments = {
      sotw: new SegmentEncoder("sotw", this.counters),
      delta: new SegmentEncoder("delta", this.counters),
    };
    this.#segmentsWithTtls = {
      sotw: new SegmentEncoder("sotw", this.counters, "ttls-told", this.#segments.sotw),
      delta: new SegmentEncoder("delta", this.counters, "ttls-told", this.#segments.delta),
    };
    this.#deltaSegmentsOfV2 = new SegmentEncoder("delta", this.counters, "v2", this.#segments.delta);
  }

  encode(body: Body, apiVersion: ApiVersion = "v3"): EncodedBody {
    const bodies = isDeltaOfV2(body, apiVersion) ? this.#deltaBodiesOfV2 : this.#bodies;
    const known = bodies.get(body);
    if (known !== undefined) return known;
    const encoder = this.#encoderFor(body, apiVersion);
    const header = this.#header(body, bodies === this.#deltaBodiesOfV2 ? "" : this.#controlPlane);
    const segments = body.segments.map((segment) => encoder.encode(segment));
    const byteLength = segments.reduce((total, segment) => total + segment.byteLength, header.length);
    const chunks = gather([header, ...segments.flatMap((segment) => segment.chunks)], byteLength);
    const encoded = { chunks, byteLength };
    bodies.set(body, encoded);
    this.counters.bodiesEncoded++;
    this.counters.bytesEncoded += header.length;
    return encoded;
  }

  encodeSome(body: Body, apiVersion: ApiVersion = "v3"): boolean {
    const encoder = this.#encoderFor(body, apiVersion);
    return body.segments.some((segment) => encoder.encodeRun(segment));
  }

  #encoderFor(body: Body, apiVersion: ApiVersion): SegmentEncoder {
    if (isDeltaOfV2(body, apiVersion)) return this.#deltaSegmentsOfV2;
    return (body.ttls === "told" ? this.#segmentsWithTtls : this.#segments)[body.variant];
  }

  /** Both variants use field number 5. Allocated from the pool, which is cheapest for bytes that are sent at once. */
  encodeNonce(_variant: Variant, nonce: string): Uint8Array {
    const length = Buffer.byteLength(nonce);
    const field = Buffer.allocUnsafe(6 + length);
    field[0] = NONCE;
    const start = writeVarint(field, 1, length);
    return field.subarray(0, start + field.write(nonce, start));
  }

  /** Returns a view that the next header overwrites. The type is set even in an empty response (S-TYP-03). */
  #header({ variant, version, type, isCanary }: Body, controlPlane: string): Uint8Array {
    const writer = this.#headerWriter.clear().optionalString(1, version).bool(3, isCanary).string(4, type);
    if (controlPlane !== "") {
      writer.message(variant === "sotw" ? 6 : 7, (inner) => inner.string(1, controlPlane));
    }
    return writer.written;
  }
}

/** In State of the World both API versions have the same fields, unless TTLs are included. */
function isDeltaOfV2({ variant }: Body, apiVersion: ApiVersion): boolean {
  return apiVersion === "v2" && variant === "delta";
}

/** Joins small neighbours, so that a response needs few writes; leaves large chunks as they are. */
function gather(chunks: readonly Uint8Array[], byteLength: number): readonly Uint8Array[] {
  if (byteLength <= ONE_CHUNK_BYTES) return [join(chunks, byteLength)];
  const gathered: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  let smallBytes = 0;
  const flush = (): void => {
    if (smallBytes > 0) gathered.push(join(small, smallBytes));
    small = [];
    smallBytes = 0;
  };
  for (const chunk of chunks) {
    if (chunk.length >= SMALL_CHUNK_BYTES) {
      flush();
      gathered.push(chunk);
    } else {
      small.push(chunk);
      smallBytes += chunk.length;
      if (smallBytes >= ONE_CHUNK_BYTES) flush();
    }
  }
  flush();
  return gathered;
}

function join(chunks: readonly Uint8Array[], byteLength: number): Uint8Array {
  const joined = Buffer.allocUnsafeSlow(byteLength);
  let end = 0;
  for (const chunk of chunks) {
    joined.set(chunk, end);
    end += chunk.length;
  }
  return joined;
}
