import type { DiscoveryRequest, ListedVersion } from "../../message/request.ts";
import { canonicalName } from "../../resource/resource-name.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Journal } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "./current-view.ts";

/** What a journal replaced or deleted, while it is as it was when that was collected. */
interface FormerPairs {
  readonly length: number;
  readonly trimmedTo: number;
  readonly pairs: ReadonlySet<string>;
}

/**
 * Whether all that a client says it has of a type, from an earlier stream, is of states that this server has in force or
 * had lately: then it has nothing newer from another one.
 */
export class KnownVersions {
  /** All views of a layer share it: nodes may have a view each. */
  readonly #former = new WeakMap<Journal, FormerPairs>();

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
    for (const [given, version] of listed) {
      const name = canonicalName(given);
      if (isPresent(name, version, type, view)) continue;
      const pair = pairOf(name, version);
      if (!view.layers.some((layer) => this.#formerPairs(layer.table(type)?.journal)?.has(pair))) return false;
    }
    return true;
  }

  /** Collected once for all clients until the next change. */
  #formerPairs(journal: Journal | undefined): ReadonlySet<string> | undefined {
    if (journal === undefined) return undefined;
    const { length, trimmedTo } = journal;
    const known = this.#former.get(journal);
    if (known?.length === length && known.trimmedTo === trimmedTo) return known.pairs;
    const pairs = new Set<string>();
    for (const { name, before } of journal.backwards())
      if (before !== undefined) pairs.add(pairOf(name, before.version));
    this.#former.set(journal, { length, trimmedTo, pairs });
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
