import { always, type Constraints, canonicalConstraints, formatConstraints } from "./constraints.ts";
import type { Reference, Resource, ResourceInput } from "./resource.ts";
import { canonicalName, canonicalNames } from "./resource-name.ts";
import { isReservedName, variantKey } from "./variant-name.ts";

/**
 * A 128-bit digest over the parts, in order. Boundaries count: `["ab", "c"]` and `["a", "bc"]` differ. The caller
 * passes it in, because this package has no hash function; `envoy-api` has the one that all of xdskit uses.
 */
export type Digest = (parts: readonly (string | Uint8Array)[]) => bigint;

const MASK = (1n << 128n) - 1n;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const DIGIT_CODES = Uint8Array.from(ALPHABET, (digit) => digit.charCodeAt(0));
/** Half of the digits are a number that a double holds exactly. */
const HALF_BITS = 48;
/** A quarter of the digits are a small integer. */
const QUARTER = 2 ** 24;

/** Adds modulo 2^128, so that a sum does not depend on the order of its members. */
export function addSums(a: bigint, b: bigint): bigint {
  return (a + b) & MASK;
}

/** Reverses `addSums`. */
export function subtractSums(a: bigint, b: bigint): bigint {
  return (a - b) & MASK;
}

/** Formats a digest or sum as 16 characters: 96 of its 128 bits. */
export function formatVersion(sum: bigint): string {
  const low = Number(BigInt.asUintN(HALF_BITS, sum));
  const high = Number(BigInt.asUintN(HALF_BITS, sum >> BigInt(HALF_BITS)));
  return formatHalf(low) + formatHalf(high);
}

/** Formats the start of a digest or sum as 4 characters, by which one of a few is known again. */
export function formatMark(sum: bigint): string {
  return formatHalf(Number(BigInt.asUintN(HALF_BITS, sum))).slice(0, MARK_LENGTH);
}

/** The length of a mark. */
export const MARK_LENGTH = 4;

/** All digits in one call: a text to which they are appended one by one costs three times as much. */
function formatHalf(half: number): string {
  const low = half % QUARTER;
  const high = Math.floor(half / QUARTER);
  return String.fromCharCode(
    digitOf(low),
    digitOf(low >>> 6),
    digitOf(low >>> 12),
    digitOf(low >>> 18),
    digitOf(high),
    digitOf(high >>> 6),
    digitOf(high >>> 12),
    digitOf(high >>> 18),
  );
}

function digitOf(bits: number): number {
  return DIGIT_CODES[bits & 63] ?? 0;
}

/** The TTL from which on protobuf has no such duration, in milliseconds: some 10,000 years. */
export const TTL_LIMIT_MS = 315_576_000_001_000;

/**
 * Creates a resource with a version: a digest of what a client would notice, never of when or where it was made
 * (S-VER-08). Names become canonical (B-XTP-02).
 *
 * @throws {RangeError} if the TTL is not more than 0 (B-TTL-19) or above 10,000 years, or the name holds a lone surrogate
 * and so cannot be sent
 */
export function createResource(given: ResourceInput, digest: Digest): Resource {
  const name = canonicalName(given.name);
  const aliases = canonicalNames(given.aliases ?? []);
  const isCanonical = name === given.name && (given.aliases === undefined || aliases === given.aliases);
  const input = isCanonical ? given : { ...given, name, aliases };
  if (input.ttlMs !== undefined && !(input.ttlMs > 0 && input.ttlMs < TTL_LIMIT_MS)) {
    const range = `a ttl of more than 0 and less than ${TTL_LIMIT_MS} ms`;
    throw new RangeError(`expected ${range} on ${input.name}, got ${input.ttlMs}`);
  }
  if (isReservedName(name)) throw new RangeError("expected a name that is text, got half of a surrogate pair in it");
  const constraints = constraintsIn(input);
  if (constraints !== undefined) return createVariant(input, constraints, digest);
  const content = contentDigest(input, digest);
  const printed = versionOf(input.version, formatVersion(content), content);
  const resource: Resource = {
    type: input.type,
    name: input.name,
    bytes: input.bytes,
    aliases,
    ttlMs: input.ttlMs,
    doNotCache: input.doNotCache ?? false,
    metadata: input.metadata,
    onDemand: input.onDemand ?? false,
    references: canonicalReferences(input.references ?? []),
    version: printed.version,
    sum: sumOf(name, printed, digest),
  };
  // Spread only where it is needed: it costs as much as a digest.
  const { bodyType } = input;
  if (bodyType === undefined && printed.content === undefined) return resource;
  return { ...resource, ...printed, ...(bodyType !== undefined && { bodyType }) };
}

/** Drops constraints that match every client. */
function constraintsIn({ constraints }: ResourceInput): Constraints | undefined {
  if (constraints === undefined) return undefined;
  const canonical = canonicalConstraints(constraints);
  return formatConstraints(canonical) === formatConstraints(always) ? undefined : canonical;
}

/** The version of a variant includes its constraints, so that the version a client reports identifies the variant. */
function createVariant(
  { constraints: _, onDemand = false, ...input }: ResourceInput,
  constraints: Constraints,
  digest: Digest,
): Resource {
  const { name } = input;
  const key = variantKey({ name, constraints });
  const { version, ...unversioned } = input;
  const { version: plain, ...resource } = createResource(unversioned, digest);
  const content = digest([formatConstraints(constraints), plain]);
  const printed = versionOf(version, formatVersion(content), content);
  const variant = { name, constraints, onDemand };
  return { ...resource, name: key, ...printed, sum: sumOf(key, printed, digest), onDemand: true, variant };
}

/** Keeps the content digest beside a version that the caller set, unless that version is made from the content. */
function versionOf(given: string | undefined, made: string, content: bigint): Pick<Resource, "version" | "content"> {
  return given === undefined || given === made ? { version: made } : { version: given, content };
}

function sumOf(name: string, { version, content }: Pick<Resource, "version" | "content">, digest: Digest): bigint {
  return digest(content === undefined ? [name, version] : [name, version, formatVersion(content)]);
}

/** Returns the same array if every name is canonical. */
function canonicalReferences(references: readonly Reference[]): readonly Reference[] {
  if (!references.some(({ name }) => canonicalName(name) !== name)) return references;
  return references.map(({ type, name }) => ({ type, name: canonicalName(name) }));
}

function contentDigest(input: ResourceInput, digest: Digest): bigint {
  const parts: (string | Uint8Array)[] = [input.bytes];
  if (input.bodyType !== undefined) parts.push(input.bodyType);
  const aliases = input.aliases ?? [];
  const isPlain = aliases.length === 0 && input.metadata === undefined && input.doNotCache !== true;
  if (isPlain) return digest(parts);
  parts.push(input.doNotCache === true ? "no-cache" : "", input.metadata ?? "", ...[...aliases].sort());
  return digest(parts);
}
