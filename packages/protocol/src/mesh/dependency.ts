import type { TypeUrl } from "../resource/type-url.ts";

/**
 * The config source that a resource gives for a dependency: plain data, resolved by the caller, who knows the
 * configuration.
 */
export type DependencySource =
  | { readonly kind: "ads" }
  /** The source of the resource itself. */
  | { readonly kind: "self" }
  /** A source of its own: the encoded `envoy.config.core.v3.ConfigSource`. `path`: a file. */
  | { readonly kind: "api" | "path"; readonly bytes: Uint8Array }
  /** The resource does not say; the one that refers to it does, with `Dependency.handsDown` (scopes). */
  | { readonly kind: "parent" }
  /** Not given, so the resource is in the client's bootstrap (secrets without a source). */
  | { readonly kind: "static" }
  /** Not given, so it comes from the source of all resources of its type (clusters that routes name). */
  | { readonly kind: "roots" };

/** A resource that another resource makes the client fetch: its source, and how the client waits for it. */
export interface Dependency {
  readonly type: TypeUrl;
  /** A name, a glob, or `*`. */
  readonly name: string;
  readonly source: DependencySource;
  /**
   * How long to wait for it, in milliseconds; 0: without limit (C-WRM-03). For on-demand Clusters, how long the request
   * waits.
   */
  readonly timeoutMs: number;
  /** Whether the resource is warm only once this is there (C-WRM-01). */
  readonly warms: boolean;
  /** `demand`: fetched only on demand (C-ODC-03); for Clusters, only the demanded names (C-ODC-01). */
  readonly fetched: "at-once" | "demand";
  /** After a change of the resource, earlier responses on the same stream do not count (C-WRM-04). */
  readonly isAskedAnew?: true;
  /** While something refers to it, a removal leaves the held resource in use (C-DEL-09). */
  readonly outlivesRemoval?: true;
  /** The source of its dependencies that do not give one. */
  readonly handsDown?: HandedDown;
  /** Only for extension configs. */
  readonly extension?: ExtensionTerms;
}

export interface HandedDown {
  readonly source: DependencySource;
  readonly timeoutMs: number;
}

/** The terms of an ECDS reference besides its source (C-ECD-02..04). */
export interface ExtensionTerms {
  /** Used until an extension config is accepted; undefined: the extension is disabled meanwhile. */
  readonly fallback: { readonly type: TypeUrl; readonly bytes: Uint8Array } | undefined;
  /** The allowed configuration types; empty: any. */
  readonly types: readonly TypeUrl[];
}
