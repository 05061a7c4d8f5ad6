import type { Resource } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/**
 * Resources and removals that are encoded once and concatenated into every body that holds them. Compared by identity:
 * whoever encodes keeps what it made in a WeakMap under the segment.
 */
export interface Segment {
  readonly puts: readonly Resource[];
  /** Names for `removed_resources`; always empty in State of the World. */
  readonly removed: readonly string[];
  /** Names answered by a `Resource` without a body (dialect `deltaMissing=empty-resource`). */
  readonly missing: readonly string[];
  /** What is told in `resource_errors`; each has an error (S-ERR-01). */
  readonly errors?: readonly Resource[];
  /** Delta: what the client holds and goes on holding, told by name, version and ttl (S-TTL-09). */
  readonly heartbeats?: readonly Heartbeat[];
}

/** A resource as a client holds it, without its content: the client may keep it for its ttl anew. */
export type Heartbeat = Pick<Resource, "name" | "version" | "ttlMs">;

/**
 * What one response says, without its nonce. Compared by identity; shared by every stream that is told the same, so that
 * it is encoded once. A response is a body and, as its last field, a nonce.
 */
export interface Body {
  readonly variant: "sotw" | "delta";
  readonly type: TypeUrl;
  /** `version_info` in State of the World, `system_version_info` in delta. */
  readonly version: string;
  readonly segments: readonly Segment[];
  /** Its resources carry their ttls; undefined: to this client they are left off. */
  readonly ttls?: "told";
  /** State of the World: `canary`, which changes nothing but what a client shows (B-MSC-03). */
  readonly isCanary?: true;
}
