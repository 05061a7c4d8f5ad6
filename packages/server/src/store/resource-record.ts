import {
  createResource,
  createResourceError,
  type ErrorDetail,
  parseTypeUrl,
  type Reference,
  type Resource,
  type TypeUrl,
} from "@xdskit/protocol";
import { type Digest, parseVariantKey } from "@xdskit/protocol/internal";

/** A resource as JSON: everything from which it is made again, but its type. */
export interface ResourceRecord {
  /** The key, if it is a variant. */
  readonly name: string;
  readonly version: string;
  /** In base64. */
  readonly bytes: string;
  readonly bodyType?: string;
  readonly aliases?: readonly string[];
  readonly onDemand?: true;
  readonly ttlMs?: number;
  readonly doNotCache?: true;
  /** In base64. */
  readonly metadata?: string;
  readonly references?: readonly Reference[];
  readonly error?: ErrorDetail;
}

export function recordOf(resource: Resource): ResourceRecord {
  const { name, version, bytes, bodyType, aliases, ttlMs, doNotCache, metadata, references, variant, error } = resource;
  return {
    name,
    version,
    bytes: toBase64(bytes),
    ...(bodyType !== undefined && { bodyType }),
    ...(aliases.length > 0 && { aliases }),
    ...((variant?.onDemand ?? resource.onDemand) && { onDemand: true }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(doNotCache && { doNotCache }),
    ...(metadata !== undefined && { metadata: toBase64(metadata) }),
    ...(references.length > 0 && { references }),
    ...(error !== undefined && { error }),
  };
}

export function resourceOf(type: TypeUrl, record: ResourceRecord, digest: Digest): Resource {
  const { bytes, metadata, bodyType, error, name, ...rest } = record;
  if (error !== undefined) return createResourceError({ type, name, error }, digest);
  const body = bodyType === undefined ? undefined : parseTypeUrl(bodyType);
  return createResource(
    {
      ...rest,
      ...(parseVariantKey(name) ?? { name }),
      type,
      bytes: Buffer.from(bytes, "base64"),
      ...(metadata !== undefined && { metadata: Buffer.from(metadata, "base64") }),
      ...(body !== undefined && { bodyType: body }),
    },
    digest,
  );
}

function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
