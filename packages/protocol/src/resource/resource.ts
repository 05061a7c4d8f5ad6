import type { Constraints } from "./constraints.ts";
import type { TypeUrl } from "./type-url.ts";

/** Why there is no resource: a gRPC status code that is not 0, and a text. */
export interface ErrorDetail {
  readonly code: number;
  readonly message: string;
}

/** The resource that another resource names, and so needs. */
export interface Reference {
  readonly type: TypeUrl;
  readonly name: string;
}

/** The names by which something refers to resources of a type. */
export function referredNames({ references }: Pick<Resource, "references">, type: TypeUrl): readonly string[] {
  return references.flatMap((reference) => (reference.type === type ? [reference.name] : []));
}

/** A resource as it enters, before it has a version. */
export interface ResourceInput {
  readonly type: TypeUrl;
  readonly name: string;
  /** What the bytes are instead of a resource of the type: a locator of where to find it (S-XTP-10). */
  readonly bodyType?: TypeUrl;
  /** For whom it is: the others of that name are other variants (S-LOC-03). Undefined: for everybody. */
  readonly constraints?: Constraints;
  /** The encoded message, without the `Any` around it. Never changed after it was handed over. */
  readonly bytes: Uint8Array;
  /** Other names under which delta clients may subscribe to it (B-DLT-12). */
  readonly aliases?: readonly string[];
  /** How long a client may use it without hearing of it again, in milliseconds; more than 0 (B-TTL-19). */
  readonly ttlMs?: number;
  /** Forbids proxies between us and the client to keep it (B-MSC-01). */
  readonly doNotCache?: boolean;
  /** An encoded `envoy.config.core.v3.Metadata`, passed through unread (S-MSC-02). */
  readonly metadata?: Uint8Array;
  /** Not part of what a wildcard covers: sent only to those who ask for it by name (S-SUB-22). */
  readonly onDemand?: boolean;
  /** What it names: found by walking the whole message once, when it enters. */
  readonly references?: readonly Reference[];
  /**
   * Printed instead of the digest of the content (architecture.md, type versions). Other content under the same version is
   * sent to clients that are connected; one that comes back and reports this version is taken to hold the newest content.
   */
  readonly version?: string;
}

/** What makes a resource one of several of its name. */
export interface ResourceVariant {
  /** The name that it shares with the others. */
  readonly name: string;
  readonly constraints: Constraints;
  /** No wildcard covers it, whatever the parameters. */
  readonly onDemand: boolean;
}

/** A named, versioned, opaque piece of configuration. Immutable; equal content has an equal version wherever it is made. */
export interface Resource {
  readonly type: TypeUrl;
  /** Of a variant its key: the name with the constraints. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly aliases: readonly string[];
  readonly ttlMs: number | undefined;
  readonly doNotCache: boolean;
  readonly metadata: Uint8Array | undefined;
  readonly onDemand: boolean;
  readonly references: readonly Reference[];
  /** Changes if and only if bytes, aliases, metadata or cache control change, or the caller's own version (S-VER-08). */
  readonly version: string;
  /** The digest of the content where the caller set the version, which may stay while the content changes. Undefined: the version is made of it. */
  readonly content?: bigint;
  /** H(name, version, and `content` if there is one): what it adds to the version of its type. */
  readonly sum: bigint;
  /** Why there is no such resource: this stands in its place, and hides what layers below hold (S-ERR-01). */
  readonly error?: ErrorDetail;
  /** What the bytes are, where they are no resource of the type. */
  readonly bodyType?: TypeUrl;
  /** It is one of the variants of a name. To whoever has no parameters it is `onDemand`: `isStandIn` is what he sees. */
  readonly variant?: ResourceVariant;
  /** Stands under a name that has variants, for clients that do not speak of parameters: the one that fits who has none. */
  readonly isStandIn?: true;
}
