import type { TypeUrl } from "../resource/type-url.ts";

/** Where a resource says that something it needs is fetched from: plain data, to be resolved by whoever knows the configuration. */
export type DependencySource =
  | { readonly kind: "ads" }
  /** Where the resource that says so comes from. */
  | { readonly kind: "self" }
  /** A source of its own: the encoded `envoy.config.core.v3.ConfigSource`. `path`: a file. */
  | { readonly kind: "api" | "path"; readonly bytes: Uint8Array }
  /** The resource does not say; whoever refers to the resource does, as `Dependency.handsDown` (scopes). */
  | { readonly kind: "parent" }
  /** Nobody says, so it stands in the configuration that the client started from (secrets without a source). */
  | { readonly kind: "static" }
  /** Nobody says: it comes from where resources of its type come from (clusters that routes name). */
  | { readonly kind: "roots" };

/** Something that a client which was given a resource fetches, from whom, and how it waits for it. */
export interface Dependency {
  readonly type: TypeUrl;
  /** A name, a glob, or `*`. */
  readonly name: string;
  readonly source: DependencySource;
  /** How long whoever waits for it waits, in milliseconds; 0: for ever (C-WRM-03). Of Clusters on demand the request that needs one. */
  readonly timeoutMs: number;
  /** Whether the resource is in use only when this is there (C-WRM-01). */
  readonly warms: boolean;
  /** `demand`: only once somebody asks for it (C-ODC-03), and of Clusters only what it asks for (C-ODC-01). */
  readonly fetched: "at-once" | "demand";
  /** After a change of the resource an answer that came before does not count any more (C-WRM-04). */
  readonly isAskedAnew?: true;
  /** A removal leaves what is held in use, while something refers to it (C-DEL-09). */
  readonly outlivesRemoval?: true;
  /** Where the dependencies of what is fetched come from, if they do not say. */
  readonly handsDown?: HandedDown;
  /** Only of extension configs. */
  readonly extension?: ExtensionTerms;
}

export interface HandedDown {
  readonly source: DependencySource;
  readonly timeoutMs: number;
}

/** What a place that is filled by ECDS says besides a source (C-ECD-02..04). */
export interface ExtensionTerms {
  /** Used as long as there is nothing better; undefined: the extension is switched off meanwhile. */
  readonly fallback: { readonly type: TypeUrl; readonly bytes: Uint8Array } | undefined;
  /** The types that it may be configured with; empty: any. */
  readonly types: readonly TypeUrl[];
}
