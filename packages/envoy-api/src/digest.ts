/**
 * The one hash of xdskit: SHA-256, truncated to 128 bits. With processor support it costs as much as SHA-1 and less
 * than MD5 (0.65 µs for 300 bytes, 0.57 ms for 1 MiB, on Node 20), so the unbroken one has no price. One call of `hash`
 * over a reused buffer costs half of `createHash` with several updates.
 */
import { createHash, hash } from "node:crypto";
import type { Digest } from "@xdskit/protocol/internal";

const ALGORITHM = "sha256";
const LENGTH_BYTES = 4;
const DIGEST_HEX_DIGITS = 32;
/** A UTF-16 code unit is at most three bytes of UTF-8. */
const UTF8_BYTES_PER_UNIT = 3;
const scratch = Buffer.allocUnsafeSlow(32 * 1024);

/**
 * Returns 128 bits over the parts in order, each preceded by its length in bytes; a string counts as its UTF-8 bytes.
 */
export const contentDigest: Digest = (parts) => {
  let most = 0;
  for (const part of parts)
    most += LENGTH_BYTES + (typeof part === "string" ? part.length * UTF8_BYTES_PER_UNIT : part.length);
  const hex = most <= scratch.length ? digestInOneCall(parts) : digestPartByPart(parts);
  return BigInt(`0x${hex.slice(0, DIGEST_HEX_DIGITS)}`);
};

function byteLengthOf(part: string | Uint8Array): number {
  return typeof part === "string" ? Buffer.byteLength(part) : part.length;
}

function digestInOneCall(parts: readonly (string | Uint8Array)[]): string {
  let end = 0;
  for (const part of parts) {
    const start = end + LENGTH_BYTES;
    if (typeof part === "string") {
      end = start + scratch.write(part, start);
    } else {
      scratch.set(part, start);
      end = start + part.length;
    }
    scratch.writeUInt32LE(end - start, start - LENGTH_BYTES);
  }
  return hash(ALGORITHM, scratch.subarray(0, end), "hex");
}

function digestPartByPart(parts: readonly (string | Uint8Array)[]): string {
  const state = createHash(ALGORITHM);
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  for (const part of parts) {
    length.writeUInt32LE(byteLengthOf(part));
    state.update(length);
    state.update(part);
  }
  return state.digest("hex");
}
