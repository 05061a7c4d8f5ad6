import type { Resource } from "../../resource/resource.ts";
import type { Ttls } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import { type Timed, timedOf, type View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import { Recent } from "../memory/recent.ts";
import type { NameSets } from "../subscription/name-set.ts";
import { countOfAll } from "../subscription/names.ts";
import { answeredTerms, type Selection, selectFrom, selectWhole } from "../subscription/selection.ts";
import type { Subscription } from "../subscription/subscription.ts";
import { type SharedChanges, wayKey } from "./shared-changes.ts";

/** A resource that is about to be sent, and what it replaces; undefined: unknown or nothing. */
export interface PendingResource {
  readonly resource: Resource;
  readonly replaces: Uses | undefined;
}

/** What a resource references, what it is asked for by, and where it is bound. */
export type Uses = Pick<Past, "references" | "aliases" | "addresses">;

/** For a former resource whose references are unknown. */
export const unknownUses: Uses = { references: [], aliases: [] };

/** Whether a former resource of a type may have referenced others of that type, as aggregate Clusters do. */
export function mayUseOwnType(uses: Uses | undefined, type: TypeUrl): boolean {
  return uses === unknownUses || uses?.references.some((reference) => reference.type === type) === true;
}

/** How many resources and names are kept of each kind; each costs a pointer. */
const ELEMENTS_KEPT = 200_000;

const nothingSelected: Selection = { puts: [], removed: [] };

/** What subscriptions cover; computed once for all streams with the same names. Dropped with the next transaction. */
export class SharedSelections {
  readonly #changes: SharedChanges;
  readonly #nameSets: NameSets;
  readonly #ttls: Ttls;
  readonly #selections = new Recent<Selection>(
    ELEMENTS_KEPT,
    // Names that are removed may be a client's own.
    ({ puts, removed }) => puts.length + countOfAll(removed),
  );
  readonly #answers = new Map<Resource, Map<string, Resource>>();
  readonly #bases = new Recent<readonly string[]>(ELEMENTS_KEPT, ({ length }) => length);
  readonly #timed = new Recent<Timed>(ELEMENTS_KEPT, ({ resources }) => resources.length);

  constructor(changes: SharedChanges, nameSets: NameSets, ttls: Ttls) {
    this.#changes = changes;
    this.#nameSets = nameSets;
    this.#ttls = ttls;
  }

  clear(): void {
    for (const made of [this.#selections, this.#answers, this.#bases, this.#timed]) made.clear();
  }

  /** Drops the copies of resources with extra aliases; they are made again when needed. */
  rest(): void {
    this.#answers.clear();
  }

  /** What a subscription covers of a difference; computed once for all streams with the same names. */
  ofChanges(from: Position, view: View, type: TypeUrl, subscription: Subscription): Selection {
    if (isStill(from, view, type)) return nothingSelected;
    const set = subscription.sharedKey(this.#nameSets);
    return this.#selections.get(set && `${wayKey(from, view, type)} ${set}`, () =>
      this.#answering(
        selectFrom(this.#changes.concerning(subscription, from, view, type), view, subscription, {
          type,
          ttls: this.#ttls,
        }),
        view,
        subscription,
      ),
    );
  }

  /** Everything that a subscription covers; `removed` has the terms without a resource. */
  all(view: View, type: TypeUrl, subscription: Subscription): Selection {
    const set = subscription.sharedKey(this.#nameSets);
    return this.#selections.get(set && `${type} ${view.contentKey(type)} all ${set}`, () =>
      this.#answering(selectWhole(view, type, subscription), view, subscription),
    );
  }

  /**
   * A resource as it is sent to a client that subscribes to it by other terms too: those terms are added as aliases
   * (S-VHD-03).
   */
  answering(resource: Resource, view: View, subscription: Subscription): Resource {
    if (subscription.terms === undefined) return resource;
    const terms = answeredTerms(resource, view, resource.type, subscription);
    if (terms.length === 0) return resource;
    const known = memo(this.#answers, resource, () => new Map<string, Resource>());
    return memo(known, JSON.stringify(terms), () => ({ ...resource, aliases: [...resource.aliases, ...terms] }));
  }

  #answering(selection: Selection, view: View, subscription: Subscription): Selection {
    if (subscription.terms === undefined) return selection;
    return { ...selection, puts: selection.puts.map((put) => this.answering(put, view, subscription)) };
  }

  /** The names of a collection that a wildcard covers. */
  baseOf(view: View, type: TypeUrl, collection: string): readonly string[] {
    return this.#bases.get(`${type} ${view.contentKey(type)} ${collection}`, () =>
      [...view.within(type, collection)].flatMap(({ name, onDemand }) => (onDemand ? [] : [name])),
    );
  }

  /** What a client at a position is about to be sent; everything, if it was sent nothing. */
  *pendingResources(
    from: Position | undefined,
    view: View,
    type: TypeUrl,
    subscription: Subscription,
  ): Iterable<PendingResource> {
    if (from === undefined) {
      for (const resource of this.all(view, type, subscription).puts) yield { resource, replaces: undefined };
      return;
    }
    const changes = this.#changes.concerning(subscription, from, view, type);
    for (const { then, now } of changes) {
      if (now !== undefined && subscription.covers(now)) yield { resource: now, replaces: then };
    }
    if (subscription.terms === undefined || changes.length === 0) return;
    // An unchanged resource is sent if it is the match of a term now, in place of another.
    const changed = new Set(changes.map(({ name }) => name));
    for (const { name } of this.ofChanges(from, view, type, subscription).puts) {
      const resource = changed.has(name) ? undefined : view.holder(type, name);
      if (resource !== undefined) yield { resource, replaces: unknownUses };
    }
  }

  /** What a subscription covers and has a TTL; computed once for all streams with the same names. */
  timed(view: View, type: TypeUrl, subscription: Subscription): Timed {
    const all = view.timed(type);
    if (all.resources.length === 0) return all;
    const set = subscription.sharedKey(this.#nameSets);
    return this.#timed.get(set && `${type} ${view.contentKey(type)} ${set}`, () =>
      timedOf(all.resources.filter((resource) => subscription.covers(resource))),
    );
  }
}
