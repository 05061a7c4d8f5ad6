import type { Constraints } from "./constraints.ts";
import type { TypeUrl } from "./type-url.ts";

/** Why a resource is unavailable: a gRPC status code other than 0, and a message. */
export interface ErrorDetail {
  readonly code: number;
  readonly message: string;
}

/** A resource that another resource refers to by name. */
export interface Reference {
  readonly type: TypeUrl;
  /** `*`: to all that a wildcard covers, as a Listener refers to scopes. */
  readonly name: string;
}

/** Returns the names of one type that a resource refers to. */
export function referredNames({ references }: Pick<Resource, "references">, type: TypeUrl): readonly string[] {
  return references.flatMap((reference) => (reference.type === type ? [reference.name] : []));
}

/** A resource before it has a version. */
export interface ResourceInput {
  readonly type: TypeUrl;
  readonly name: string;
  /** The type of the bytes, if not `type`: a resource locator that redirects (S-XTP-10). */
  readonly bodyType?: TypeUrl;
  /** Which clients it is for; other resources of the name are its other variants (S-LOC-03). Undefined: all clients. */
  readonly constraints?: Constraints;
  /** The encoded message without the `Any` around it. The caller must not change it afterwards. */
  readonly bytes: Uint8Array;
  /** Other names by which delta clients may subscribe to it (B-DLT-12). */
  readonly aliases?: readonly string[];
  /** How long a client may use it without a renewal, in milliseconds; more than 0 (B-TTL-19). Absent: for ever. */
  readonly ttlMs?: number;
  /** Forbids intermediate xDS proxies to cache it (B-MSC-01). */
  readonly doNotCache?: boolean;
  /** An encoded `envoy.config.core.v3.Metadata`, passed through unread (S-MSC-02). */
  readonly metadata?: Uint8Array;
  /** Excluded from wildcards: sent only to clients that subscribe to it by name (S-SUB-22). */
  readonly onDemand?: boolean;
  /** The resources that the message refers to. */
  readonly references?: readonly Reference[];
  /**
   * Used in place of the digest of the content (architecture.md, type versions). New content under the same version is
   * sent to connected clients; a client that reconnects with this version is taken to hold the newest content.
   */
  readonly version?: string;
}

/** What distinguishes a variant from the others of its name. */
export interface ResourceVariant {
  /** The name that all variants share. */
  readonly name: string;
  readonly constraints: Constraints;
  /** Excluded from wildcards, whatever the parameters. */
  readonly onDemand: boolean;
}

/** A named, versioned, opaque piece of configuration. Immutable; equal content always has an equal version. */
export interface Resource {
  readonly type: TypeUrl;
  /** For a variant its key: the name with the constraints. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly aliases: readonly string[];
  readonly ttlMs: number | undefined;
  readonly doNotCache: boolean;
  readonly metadata: Uint8Array | undefined;
  readonly onDemand: boolean;
  readonly references: readonly Reference[];
  /** Changes if and only if bytes, aliases, metadata, cache control or the caller's own version change (S-VER-08). */
  readonly version: string;
  /**
   * The digest of the content if the caller set the version, because such a version may stay while the content changes.
   * Undefined if the version is made from the content.
   */
  readonly content?: bigint;
  /** H(name, version, and `content` if set): its contribution to the type version. */
  readonly sum: bigint;
  /**
   * Why there is no such resource. A resource error takes the place of the resource and hides lower layers (S-ERR-01).
   */
  readonly error?: ErrorDetail;
  /** The type of the bytes, if not `type`. */
  readonly bodyType?: TypeUrl;
  /**
   * Set on a variant. A variant is always `onDemand`; clients without parameters see the one with `isStandIn` instead.
   */
  readonly variant?: ResourceVariant;
  /** Set on the copy that stands under the shared name of variants, for clients without parameters. */
  readonly isStandIn?: true;
}
