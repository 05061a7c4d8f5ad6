import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import type { ApiVersion } from "@xdskit/protocol";
import type { Body } from "@xdskit/protocol/internal";

/** An encoded response of a stream; its pieces are shared and never changed. */
export interface OutgoingMessage {
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
}

/** Returns the prefix of a message of that length. */
export type Prefix = (byteLength: number) => Uint8Array;

/** Messages up to this size become one piece: copying them is cheaper than several writes. */
const SMALL_BYTES = 16 * 1024;
/** Messages up to this size become one piece for those streams that get the same one. */
const SHARED_BYTES = 64 * 1024;

/**
 * Joins prefix, body and nonce. In a fan-out most streams get the same body and nonce, so the last message of each
 * body is cached unless it is large.
 */
export class MessageMaker {
  readonly #encoder: BodyEncoder;
  readonly #lastOf = new WeakMap<
    Body,
    {
      readonly nonce: string;
      readonly apiVersion: ApiVersion;
      readonly prefix: Prefix;
      /** Undefined: sent once, in pieces. */
      readonly message: OutgoingMessage | undefined;
    }
  >();

  constructor(encoder: BodyEncoder) {
    this.#encoder = encoder;
  }

  make(body: Body, nonce: string, apiVersion: ApiVersion, prefix: Prefix): OutgoingMessage {
    const last = this.#lastOf.get(body);
    const isSame = last?.nonce === nonce && last.prefix === prefix && last.apiVersion === apiVersion;
    if (isSame && last.message !== undefined) return last.message;
    const encoded = this.#encoder.encode(body, apiVersion);
    const end = this.#encoder.encodeNonce(body.variant, nonce);
    const payloadBytes = encoded.byteLength + end.byteLength;
    const start = prefix(payloadBytes);
    const pieces = [start, ...encoded.chunks, end];
    const byteLength = start.byteLength + payloadBytes;
    if (byteLength > SHARED_BYTES) return { pieces, byteLength };
    const isJoined = isSame || byteLength <= SMALL_BYTES;
    const message = isJoined ? { pieces: [Buffer.concat(pieces, byteLength)], byteLength } : undefined;
    this.#lastOf.set(body, { nonce, apiVersion, prefix, message });
    return message ?? { pieces, byteLength };
  }
}
