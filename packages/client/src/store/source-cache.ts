import type { KeptResource, Node, SourceId } from "@xdskit/protocol";
import type { SourceConfig } from "../config/client-config.ts";
import { shortDigest } from "../config/content-digest.ts";
import { sourceOrigin } from "../config/source-origin.ts";
import type { ResourceSnapshot, ResourceStore } from "./resource-store.ts";

const DIGEST_CHARACTERS = 16;

/** What is kept of sources on a disk (C-CLI-06). Sources that only differ in their credentials are told apart while it can be known which is which. */
export interface SourceCache {
  /** What an earlier life kept of a source; undefined: nothing. Asked once of each, before anything of it is saved. */
  restore(source: SourceConfig): readonly KeptResource[] | undefined;
  save(source: SourceId, snapshot: ResourceSnapshot): void;
}

/** What a cache knows of its client. */
export interface CacheOwner {
  readonly node: () => Pick<Node, "id" | "cluster">;
  /** Sources that its configuration names. */
  readonly configured: readonly SourceConfig[];
}

/**
 * Sources go by their [origin](../config/source-origin.ts), then by their id, in which credentials count. So what was kept is found with another token, and
 * two sources that differ in nothing but a token do not get each other's: what is kept of another id is taken only if there is one, and if no
 * source of this life has it.
 */
export function createSourceCache(store: ResourceStore, { node, configured }: CacheOwner): SourceCache {
  const sources = new Map<SourceId, SourceConfig>();
  const keyOf = (source: SourceConfig): { readonly origin: string; readonly key: string } => {
    const origin = `${sourceOrigin(source, node())}#`;
    return { origin, key: `${origin}${shortDigest(source.id, DIGEST_CHARACTERS)}` };
  };

  const restored = new Set<string>();
  return {
    restore(source) {
      sources.set(source.id, source);
      const { origin, key } = keyOf(source);
      const kept = [...store.sources()].filter((one) => one.startsWith(origin));
      const inUse = new Set([...restored, ...configured.map((one) => keyOf(one).key)]);
      const [only, ...others] = kept.filter((one) => !inUse.has(one));
      if (only !== undefined && others.length === 0 && !kept.includes(key)) store.rename(only, key);
      restored.add(key);
      return store.restore(key);
    },
    save(id, snapshot) {
      const source = sources.get(id);
      if (source !== undefined) store.save(keyOf(source).key, snapshot);
    },
  };
}
