import type { DiscoveryRequest, ListedVersion } from "../../message/request.ts";
import { canonicalName } from "../../resource/resource-name.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "./current-view.ts";

interface FormerPairs {
  /** The revision of the last change when they were collected. */
  readonly changedAt: number;
  readonly pairs: ReadonlySet<string>;
}

/**
 * Whether all that a client says it has of a type, from an earlier stream, is of states that this server has in force or
 * had lately: then it has nothing newer from another one.
 */
export class KnownVersions {
  readonly #byView = new WeakMap<View, Map<TypeUrl, FormerPairs>>();

  covers(request: DiscoveryRequest, type: TypeUrl, current: CurrentView): boolean {
    const { view } = current;
    if (request.kind === "delta") return this.#coversPairs(request.initialVersions, type, view);
    const { versionInfo } = request;
    if (versionInfo === undefined || versionInfo === view.typeVersion(type)) return true;
    const served = current.servedAs(type, versionInfo);
    // A worker is also told what others served that are ahead of it.
    return served !== undefined && served.position.revision <= current.revision;
  }

  #coversPairs(listed: Iterable<ListedVersion>, type: TypeUrl, view: View): boolean {
    let former: ReadonlySet<string> | undefined;
    for (const [given, version] of listed) {
      const name = canonicalName(given);
      if (isPresent(name, version, type, view)) continue;
      former ??= this.#formerPairs(type, view);
      if (!former.has(pairOf(name, version))) return false;
    }
    return true;
  }

  /** What the journals still say of what was replaced or deleted; collected once for all clients until the next change. */
  #formerPairs(type: TypeUrl, view: View): ReadonlySet<string> {
    const byType = this.#byView.get(view) ?? new Map<TypeUrl, FormerPairs>();
    this.#byView.set(view, byType);
    const changedAt = view.changedAt(type);
    const known = byType.get(type);
    if (known?.changedAt === changedAt) return known.pairs;
    const pairs = new Set<string>();
    for (const layer of view.layers) {
      for (const { name, before } of layer.table(type)?.journal.backwards() ?? [])
        if (before !== undefined) pairs.add(pairOf(name, before.version));
    }
    byType.set(type, { changedAt, pairs });
    return pairs;
  }
}

/** In any layer: what one hides today was in force before it did. */
function isPresent(name: string, version: string, type: TypeUrl, view: View): boolean {
  return view.layers.some((layer) => layer.table(type)?.resources.get(name)?.version === version);
}

function pairOf(name: string, version: string): string {
  return `${name}\u0000${version}`;
}
