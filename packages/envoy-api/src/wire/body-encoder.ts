/**
 * Responses as they leave, made once for all streams that are told the same: a header, the frames of the body's segments, and
 * as the last field the nonce, the only part that belongs to one stream. Protobuf allows the fields in any order, and repeated
 * ones to be concatenated. What is kept hangs on `Segment` and `Body` weakly, so it goes when they go.
 */
import type { ApiVersion, Body, Variant } from "@xdskit/protocol";
import { lengthTag } from "./reader.ts";
import { type EncodingCounters, SegmentEncoder } from "./segment-encoder.ts";
import { WireWriter, writeVarint } from "./writer.ts";

/** Everything of a response but its nonce. */
export interface EncodedBody {
  /** To be written one behind the other, and never changed: they are shared, some with the resources themselves. */
  readonly chunks: readonly Uint8Array[];
  readonly byteLength: number;
}

/** Encodes what a server sends; one per server. */
export interface BodyEncoder {
  /** The same object again for the same body and version of the messages, which is v3 unless given. */
  encode(body: Body, apiVersion?: ApiVersion): EncodedBody;
  /** The last field of the message. */
  encodeNonce(variant: Variant, nonce: string): Uint8Array;
  /** How often something was encoded, not found: equal for one stream and for ten thousand that are told the same. */
  readonly counters: Readonly<EncodingCounters>;
}

/** A body of up to this size is one chunk; above it, chunks of `SMALL_CHUNK_BYTES` or more are used as they are. */
const ONE_CHUNK_BYTES = 64 * 1024;
const SMALL_CHUNK_BYTES = 16 * 1024;

const NONCE = lengthTag(5);

/** An encoder that signs responses with the identifier of the control plane (S-RES-16); "" signs nothing. */
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

  /** In State of the World both versions have the same fields, as long as no ttl is told. */
  encode(body: Body, apiVersion: ApiVersion = "v3"): EncodedBody {
    if (apiVersion === "v2" && body.variant === "delta") {
      return this.#encodeOnce(body, this.#deltaBodiesOfV2, "", this.#deltaSegmentsOfV2);
    }
    const encoder = (body.ttls === "told" ? this.#segmentsWithTtls : this.#segments)[body.variant];
    return this.#encodeOnce(body, this.#bodies, this.#controlPlane, encoder);
  }

  #encodeOnce(
    body: Body,
    bodies: WeakMap<Body, EncodedBody>,
    controlPlane: string,
    encoder: SegmentEncoder,
  ): EncodedBody {
    const known = bodies.get(body);
    if (known !== undefined) return known;
    const header = this.#header(body, controlPlane);
    const segments = body.segments.map((segment) => encoder.encode(segment));
    const byteLength = segments.reduce((total, segment) => total + segment.byteLength, header.length);
    const chunks = gather([header, ...segments.flatMap((segment) => segment.chunks)], byteLength);
    const encoded = { chunks, byteLength };
    bodies.set(body, encoded);
    this.counters.bodiesEncoded++;
    this.counters.bytesEncoded += header.length;
    return encoded;
  }

  /** Both variants have it at number 5. From the pool: it is sent at once and gone, and a pool's slice costs least. */
  encodeNonce(_variant: Variant, nonce: string): Uint8Array {
    const length = Buffer.byteLength(nonce);
    const field = Buffer.allocUnsafe(6 + length);
    field[0] = NONCE;
    const start = writeVarint(field, 1, length);
    return field.subarray(0, start + field.write(nonce, start));
  }

  /** A view that the next header overwrites. The type is told even if there is nothing of it (S-TYP-03). */
  #header({ variant, version, type, isCanary }: Body, controlPlane: string): Uint8Array {
    const writer = this.#headerWriter.clear().optionalString(1, version).bool(3, isCanary).string(4, type);
    if (controlPlane !== "") {
      writer.message(variant === "sotw" ? 6 : 7, (inner) => inner.string(1, controlPlane));
    }
    return writer.written;
  }
}

/** Copies small neighbours together, so that a response is few writes; leaves large chunks where they are. */
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
