import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import type { ApiVersion } from "@xdskit/protocol";
import type { Body } from "@xdskit/protocol/internal";

/** A response as it goes to a stream: pieces that are shared and never changed. */
export interface OutgoingMessage {
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
}

/** Makes what stands before a message of so many bytes. */
export type Prefix = (byteLength: number) => Uint8Array;

/** Up to here a message is made one piece: one write of copied bytes is cheaper than several of shared ones. */
const SMALL_BYTES = 16 * 1024;

/**
 * Puts prefix, body and nonce together. In a fan-out most streams are told the same body under the same nonce, so the
 * last small message of each body is kept whole.
 */
export class MessageMaker {
  readonly #encoder: BodyEncoder;
  readonly #lastOf = new WeakMap<
    Body,
    {
      readonly nonce: string;
      readonly apiVersion: ApiVersion;
      readonly prefix: Prefix;
      readonly message: OutgoingMessage;
    }
  >();

  constructor(encoder: BodyEncoder) {
    this.#encoder = encoder;
  }

  make(body: Body, nonce: string, apiVersion: ApiVersion, prefix: Prefix): OutgoingMessage {
    const last = this.#lastOf.get(body);
    if (last?.nonce === nonce && last.prefix === prefix && last.apiVersion === apiVersion) return last.message;
    const encoded = this.#encoder.encode(body, apiVersion);
    const end = this.#encoder.encodeNonce(body.variant, nonce);
    const payloadBytes = encoded.byteLength + end.byteLength;
    const start = prefix(payloadBytes);
    const pieces = [start, ...encoded.chunks, end];
    const byteLength = start.byteLength + payloadBytes;
    if (byteLength > SMALL_BYTES) return { pieces, byteLength };
    const message = { pieces: [Buffer.concat(pieces, byteLength)], byteLength };
    this.#lastOf.set(body, { nonce, apiVersion, prefix, message });
    return message;
  }
}
