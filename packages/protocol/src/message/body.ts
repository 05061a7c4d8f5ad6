import type { Resource } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/**
 * Resources and removals that are encoded once and concatenated into every body that holds them. Compared by identity:
 * an encoder caches its output in a WeakMap keyed by the segment.
 */
export interface Segment {
  readonly puts: readonly Resource[];
  /** Names for `removed_resources`; always empty in State of the World. */
  readonly removed: readonly string[];
  /** Names reported as a `Resource` without a body (dialect `deltaMissing=empty-resource`). */
  readonly missing: readonly string[];
  /** Resource errors for `resource_errors`; each has `error` set (S-ERR-01). */
  readonly errors?: readonly Resource[];
  /** Delta: heartbeats for resources that the client holds (S-TTL-09). */
  readonly heartbeats?: readonly Heartbeat[];
}

/** A resource without its content, sent to renew the TTL of what the client holds. */
export type Heartbeat = Pick<Resource, "name" | "version" | "ttlMs">;

/**
 * The content of a response without its nonce. Compared by identity and shared by every stream that gets the same
 * content, so it is encoded once. A response is a body followed by the nonce as the last field.
 */
export interface Body {
  readonly variant: "sotw" | "delta";
  readonly type: TypeUrl;
  /** `version_info` in State of the World, `system_version_info` in delta. */
  readonly version: string;
  readonly segments: readonly Segment[];
  /** Set if the resources carry their TTLs; undefined if the client gets them without. */
  readonly ttls?: "told";
  /** State of the World: sets `canary`, which only affects what a client displays (B-MSC-03). */
  readonly isCanary?: true;
}
