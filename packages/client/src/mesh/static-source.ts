import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import type { HeldResource, TypeKind, WatchEvent } from "@xdskit/protocol/internal";
import type { SourceConfig, StaticResource } from "../config/client-config.ts";
import { kindOf } from "../resource/kind-of.ts";

/** The value of `MeshResource.source` for resources in the bootstrap. */
export const STATIC_SOURCE = "static";

/** The bootstrap as a source; it never keeps a mesh waiting. */
export interface StaticSource {
  readonly kind: "static";
  readonly id: typeof STATIC_SOURCE;
  readonly initialFetchTimeoutMs: 0;
}

export const staticSource: StaticSource = { kind: "static", id: STATIC_SOURCE, initialFetchTimeoutMs: 0 };

/** The source of a resource in a mesh. */
export type MeshSource = SourceConfig | StaticSource;

/**
 * The static resources of the bootstrap, for meshes. As in Envoy, servers cannot change them: a Listener or Cluster
 * with the name of a static one is ignored.
 */
export class StaticResources {
  /** Whether the static resources are known, even if there are none. */
  readonly isKnown: boolean;
  readonly #kindOf: (type: TypeUrl) => TypeKind;
  readonly #held = new Map<TypeKind, Map<string, HeldResource>>();

  constructor(resources: readonly StaticResource[] | undefined, api: Pick<EnvoyApi, "traits">) {
    this.isKnown = resources !== undefined;
    this.#kindOf = (type) => kindOf(type, api);
    for (const { type, name, bytes } of resources ?? []) {
      const kind = this.#kindOf(type);
      const ofKind = this.#held.get(kind) ?? new Map<string, HeldResource>();
      this.#held.set(kind, ofKind);
      ofKind.set(name, { type, name, bytes, version: "", aliases: [], ttlMs: undefined });
    }
  }

  /** The type of the static resources of a kind, in the API version of the bootstrap; undefined: there are none. */
  typeOf(kind: "cds" | "lds"): TypeUrl | undefined {
    const [first] = this.#held.get(kind)?.values() ?? [];
    return first?.type;
  }

  /** Whether a static Listener or Cluster has this name, so that servers cannot provide it. */
  owns(type: TypeUrl, name: string): boolean {
    return this.owned(type, name) !== undefined;
  }

  /** The static Listener or Cluster of this name, which overrides that of a server; undefined: there is none. */
  owned(type: TypeUrl, name: string): HeldResource | undefined {
    const kind = this.#kindOf(type);
    return kind === "cds" || kind === "lds" ? this.#held.get(kind)?.get(name) : undefined;
  }

  /** The news for a watch of one name or of a wildcard. */
  newsOf(type: TypeUrl, term: string): readonly WatchEvent[] {
    const ofKind = this.#held.get(this.#kindOf(type));
    if (term === "*") {
      const all = [...(ofKind?.values() ?? [])].map(
        (resource): WatchEvent => ({ kind: "changed", name: resource.name, resource }),
      );
      return [...all, { kind: "synced" }];
    }
    const resource = ofKind?.get(term);
    return [
      resource === undefined
        ? { kind: "absent", name: term, why: "does-not-exist", held: undefined }
        : { kind: "changed", name: term, resource },
    ];
  }
}
