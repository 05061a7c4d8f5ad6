import type { TypeUrl } from "../../resource/type-url.ts";
import { isStill, type Position, reaches } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { PendingRemovals } from "./pending-removals.ts";

/**
 * A State of the World that clients were sent; its content follows from its position and the pending removals that it
 * listed, but for Clusters that were held back.
 */
export interface Served {
  readonly type: TypeUrl;
  readonly version: string;
  readonly position: Position;
  readonly pendingRemovals: PendingRemovals;
}

/** How many versions are remembered; each costs a few references. */
const VERSIONS_KEPT = 16_384;

/**
 * The versions of Clusters and scopes that clients were sent lately, with the pending removals that they listed. A reconnecting
 * client names the version that it holds.
 */
export class ServedVersions {
  readonly #byKey = new Map<string, Served>();
  readonly #kept: number;
  readonly #listsNews: boolean;
  #news: Served[] = [];

  /** `listsNews`: whether new versions are collected for `takeNews`; they are kept until it is called. */
  constructor({ listsNews, kept = VERSIONS_KEPT }: { readonly listsNews: boolean; readonly kept?: number }) {
    this.#listsNews = listsNews;
    this.#kept = kept;
  }

  /** Notes that a client was sent this. */
  note(served: Served): void {
    const key = keyOf(served.type, served.version, served.position.view);
    const known = this.#byKey.get(key);
    if (known !== undefined && reaches(known.position, served.type)) return;
    this.#byKey.delete(key);
    this.#byKey.set(key, served);
    if (this.#listsNews) this.#news.push(served);
    for (const oldest of this.#byKey.keys()) {
      if (this.#byKey.size <= this.#kept) break;
      this.#byKey.delete(oldest);
    }
  }

  /** What was sent under a version; undefined if it is not known any more. `view`: that of the client. */
  find(type: TypeUrl, version: string, view: View): Served | undefined {
    const served = this.#byKey.get(keyOf(type, version, view));
    return served !== undefined && reaches(served.position, type) ? served : undefined;
  }

  /** The versions whose content is still the current one. */
  *current(): Iterable<Served> {
    for (const served of this.#byKey.values()) {
      const { position, type } = served;
      if (isStill(position, position.view, type)) yield served;
    }
  }

  /** The versions noted since the last call. */
  takeNews(): readonly Served[] {
    if (this.#news.length === 0) return none;
    const news = this.#news;
    this.#news = [];
    return news;
  }
}

const none: readonly Served[] = [];

/** Equal versions have equal content in every view, unless a caller sets the version text. */
function keyOf(type: TypeUrl, version: string, view: View): string {
  return view.printedVersion(type) === undefined ? `${type} ${version}` : `${type} ${version} ${view.key}`;
}
