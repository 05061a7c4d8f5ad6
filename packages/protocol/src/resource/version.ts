import type { Resource, ResourceInput } from "./resource.ts";

/**
 * A digest of 128 bits over the parts, in order. The parts are told apart: `["ab", "c"]` and `["a", "bc"]` differ.
 * Handed in, because this package has no hash function; `envoy-api` has the one that all of xdskit uses.
 */
export type Digest = (parts: readonly (string | Uint8Array)[]) => bigint;

const MASK = (1n << 128n) - 1n;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VERSION_CHARACTERS = 16;

/** Addition modulo 2^128: sums of members do not depend on their order. */
export function addSums(a: bigint, b: bigint): bigint {
  return (a + b) & MASK;
}

/** The opposite of `addSums`. */
export function subtractSums(a: bigint, b: bigint): bigint {
  return (a - b) & MASK;
}

/** A digest or sum as 16 characters: 96 of its 128 bits. */
export function formatVersion(sum: bigint): string {
  let text = "";
  let rest = sum;
  for (let i = 0; i < VERSION_CHARACTERS; i++) {
    text += ALPHABET.charAt(Number(rest & 63n));
    rest >>= 6n;
  }
  return text;
}

/**
 * Gives a resource its version: a digest of what a client would notice, never of when or where it was made (S-VER-08).
 *
 * @throws {RangeError} a ttl that is not more than 0 (B-TTL-19)
 */
export function createResource(input: ResourceInput, digest: Digest): Resource {
  if (input.ttlMs !== undefined && !(input.ttlMs > 0))
    throw new RangeError(`expected a ttl of more than 0 ms on ${input.name}, got ${input.ttlMs}`);
  const aliases = input.aliases ?? [];
  const doNotCache = input.doNotCache ?? false;
  const version = input.version ?? formatVersion(contentDigest(input, digest));
  return {
    type: input.type,
    name: input.name,
    bytes: input.bytes,
    aliases,
    ttlMs: input.ttlMs,
    doNotCache,
    metadata: input.metadata,
    onDemand: input.onDemand ?? false,
    references: input.references ?? [],
    version,
    sum: digest([input.name, version]),
  };
}

function contentDigest(input: ResourceInput, digest: Digest): bigint {
  const parts: (string | Uint8Array)[] = [input.bytes];
  const aliases = input.aliases ?? [];
  const isPlain = aliases.length === 0 && input.metadata === undefined && input.doNotCache !== true;
  if (isPlain) return digest(parts);
  parts.push(input.doNotCache === true ? "no-cache" : "", input.metadata ?? "", ...[...aliases].sort());
  return digest(parts);
}
