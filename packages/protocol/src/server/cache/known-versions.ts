import type { DiscoveryRequest, ListedVersion } from "../../message/request.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Journal } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "./current-view.ts";

/** The names with their versions that a journal replaced or deleted, while it is as it was. */
interface Former {
  readonly length: number;
  readonly trimmedTo: number;
  readonly pairs: WeakRef<ReadonlySet<string>>;
}

/** Tells what this server has in force or had lately from what a client can only have from another one. */
export class KnownVersions {
  /** Clients that come back together ask for the same. */
  readonly #former = new WeakMap<Journal, Former>();

  /** Whether this server has or had all that a client says it has of a type, from an earlier stream. */
  has(request: DiscoveryRequest, type: TypeUrl, current: CurrentView): boolean {
    const { view } = current;
    if (request.kind === "delta") return this.#hasPairs(request.initialVersions, type, view);
    const { versionInfo } = request;
    if (versionInfo === undefined || versionInfo === view.typeVersion(type)) return true;
    const served = current.servedAs(type, versionInfo);
    return served !== undefined && served.position.revision <= current.revision;
  }

  #hasPairs(listed: Iterable<ListedVersion>, type: TypeUrl, view: View): boolean {
    for (const [name, version] of listed) {
      if (view.holder(type, name)?.version === version) continue;
      const pair = pairOf(name, version);
      if (!view.layers.some((layer) => this.#formerOf(layer.table(type)?.journal)?.has(pair))) return false;
    }
    return true;
  }

  #formerOf(journal: Journal | undefined): ReadonlySet<string> | undefined {
    if (journal === undefined) return undefined;
    const { length, trimmedTo } = journal;
    const last = this.#former.get(journal);
    const known = last?.length === length && last.trimmedTo === trimmedTo ? last.pairs.deref() : undefined;
    if (known !== undefined) return known;
    const pairs = new Set<string>();
    for (const { name, before } of journal.backwards())
      if (before !== undefined) pairs.add(pairOf(name, before.version));
    this.#former.set(journal, { length, trimmedTo, pairs: new WeakRef(pairs) });
    return pairs;
  }
}

function pairOf(name: string, version: string): string {
  return `${name}\u0000${version}`;
}
