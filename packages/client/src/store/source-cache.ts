import type { Node, SourceId } from "@xdskit/protocol";
import type { KeptResource } from "@xdskit/protocol/internal";
import type { SourceConfig } from "../config/client-config.ts";
import { shortDigest } from "../config/content-digest.ts";
import { sourceOrigin } from "../config/source-origin.ts";
import type { ResourceSnapshot, ResourceStore } from "./resource-store.ts";

const DIGEST_CHARACTERS = 16;

/**
 * Keeps the resources of sources on disk (C-CLI-06). Sources that differ only in credentials are kept apart as far as
 * they can be told apart.
 */
export interface SourceCache {
  /** The resources kept for a source; undefined: none. Called once per source until its release, before it is saved. */
  restore(source: SourceConfig): readonly KeptResource[] | undefined;
  save(source: SourceId, snapshot: ResourceSnapshot): void;
  /** The source is not used any more. */
  release(source: SourceId): void;
}

/** What the cache needs from its client. */
export interface CacheOwner {
  readonly node: () => Pick<Node, "id" | "cluster">;
  /** The sources of the configuration. */
  readonly configured: readonly SourceConfig[];
}

/**
 * Keys sources by their [origin](../config/source-origin.ts), then by id, which includes credentials. A changed token
 * therefore still finds the kept resources, and two sources that differ only in a token do not share them: resources
 * kept under another id are used only if there is exactly one and no current source has that id.
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
    release(id) {
      const source = sources.get(id);
      if (source === undefined) return;
      const { key } = keyOf(source);
      sources.delete(id);
      restored.delete(key);
      store.release(key);
    },
  };
}
