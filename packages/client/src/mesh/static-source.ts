import type { EnvoyApi } from "@xdskit/envoy-api";
import type { HeldResource, News, TypeKind, TypeUrl } from "@xdskit/protocol";
import type { SourceConfig, StaticResource } from "../config/client-config.ts";
import { kindOf } from "../resource/kind-of.ts";

/** What `MeshResource.source` is of what stands in the bootstrap. */
export const STATIC_SOURCE = "static";

/** The bootstrap itself as a source: it is never waited for. */
export interface StaticSource {
  readonly kind: "static";
  readonly id: typeof STATIC_SOURCE;
  readonly initialFetchTimeoutMs: 0;
}

export const staticSource: StaticSource = { kind: "static", id: STATIC_SOURCE, initialFetchTimeoutMs: 0 };

/** Where a mesh has something from. */
export type MeshSource = SourceConfig | StaticSource;

/**
 * What stands in the bootstrap, for meshes. It never changes, and as with an Envoy a server does not change it either: a Listener or Cluster that
 * comes under the name of a static one is passed over.
 */
export class StaticResources {
  /** Somebody said what there is, be it nothing. */
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

  /** The type of those that there are of a kind, in the version of the bootstrap; undefined: there are none. */
  typeOf(kind: "cds" | "lds"): TypeUrl | undefined {
    const [first] = this.#held.get(kind)?.values() ?? [];
    return first?.type;
  }

  /** Whether there is a Listener or Cluster of that name, so that no server gives one. */
  owns(type: TypeUrl, name: string): boolean {
    return this.owned(type, name) !== undefined;
  }

  /** The Listener or Cluster of that name, which stands whatever a server gives; undefined: there is none. */
  owned(type: TypeUrl, name: string): HeldResource | undefined {
    const kind = this.#kindOf(type);
    return kind === "cds" || kind === "lds" ? this.#held.get(kind)?.get(name) : undefined;
  }

  /** What a watch of one name, or of everything, is told. */
  newsOf(type: TypeUrl, term: string): readonly News[] {
    const ofKind = this.#held.get(this.#kindOf(type));
    if (term === "*") {
      const all = [...(ofKind?.values() ?? [])].map(
        (resource): News => ({ kind: "changed", name: resource.name, resource }),
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
