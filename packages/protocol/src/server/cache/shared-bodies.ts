import type { Body, Segment } from "../../message/body.ts";
import type { Variant } from "../../message/variant.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Ttls } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isSamePosition, type Position, positionKey } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import { SharedWhileUsed } from "../../state/shared-while-used.ts";
import { type Timed, timedOf, type View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import type { NameSets } from "../subscription/name-set.ts";
import { countOfAll } from "../subscription/names.ts";
import type { Subscription } from "../subscription/subscription.ts";
import type { PendingRemovals } from "./pending-removals.ts";
import type { SharedChanges } from "./shared-changes.ts";
import type { SharedSelections } from "./shared-selections.ts";

/** Up to so many names, a body made for a single stream is shared by its content. */
const OWN_NAMES_SHARED = 16;

/**
 * Response bodies: one object for all clients that are sent the same, so that it is encoded once. A body lives while it
 * is in flight or is the newest that a client was sent; new lookups after a transaction make new bodies.
 */
export class SharedBodies {
  readonly #changes: SharedChanges;
  readonly #selections: SharedSelections;
  readonly #nameSets: NameSets;
  readonly #ttls: Ttls;
  #systemVersion: string | undefined;
  readonly #bodies = new SharedWhileUsed<Body>();
  /** The difference that was sent last: most streams stand at one position. */
  #last: { readonly from: Position; readonly variant: Variant; readonly view: View; readonly body: Body } | undefined;
  /** Full states, by the pending removals that they list too. */
  #full = new WeakMap<PendingRemovals, SharedWhileUsed<Body>>();
  readonly #own = new SharedWhileUsed<Body>();
  readonly #ids = new WeakMap<Resource, number>();
  #lastId = 0;
  #heartbeats = new WeakMap<readonly (Past | Resource)[], Map<string, Body>>();
  readonly #inOrder = new WeakMap<Body, WeakMap<readonly string[], Body>>();
  readonly #timedIn = new WeakMap<Body, Timed>();

  constructor(changes: SharedChanges, selections: SharedSelections, nameSets: NameSets, ttls: Ttls) {
    this.#changes = changes;
    this.#selections = selections;
    this.#nameSets = nameSets;
    this.#ttls = ttls;
  }

  /**
   * Drops the bodies after a transaction. `systemVersion`: the `system_version_info` from now on; undefined: unchanged.
   */
  advance(systemVersion: string | undefined): void {
    if (systemVersion !== undefined) this.#systemVersion = systemVersion;
    this.#bodies.clear();
    this.#last = undefined;
    this.#own.clear();
    this.#full = new WeakMap();
    this.#heartbeats = new WeakMap();
  }

  /** Drops what only streams that are flushed at the same time share. */
  rest(): void {
    this.#last = undefined;
  }

  /** The body of everything that a wildcard covers. */
  whole(variant: Variant, view: View, type: TypeUrl): Body {
    return this.#body(variant, view, type, "whole", () => view.whole(type));
  }

  /** The body of a whole difference, for a wildcard. */
  ofChanges(variant: Variant, from: Position, view: View, type: TypeUrl): Body {
    const last = this.#last;
    const isKnown = last?.variant === variant && last.view === view && last.body.type === type;
    if (isKnown && isSamePosition(last.from, from)) return last.body;
    const body = this.#body(
      variant,
      view,
      type,
      positionKey(from, view, type),
      () => this.#changes.between(from, view, type).segments,
    );
    this.#last = { from, variant, view, body };
    return body;
  }

  /**
   * The body of a selection; shared by equal subscriptions. `from`: the position of the client, undefined for all
   * resources.
   */
  ofSelection(
    variant: Variant,
    view: View,
    type: TypeUrl,
    subscription: Subscription,
    make: () => Segment,
    from: Position | undefined,
  ): Body {
    const set = subscription.sharedKey(this.#nameSets);
    if (set === undefined) return this.#make(variant, view, type, [make()]);
    const at = from === undefined ? "all" : positionKey(from, view, type);
    return this.#body(variant, view, type, `${at} ${set}`, () => [make()]);
  }

  /** The body of a full state that also lists pending removals. */
  full(view: View, type: TypeUrl, subscription: Subscription, pendingRemovals: PendingRemovals): Body {
    const known = memo(this.#full, pendingRemovals, () => new SharedWhileUsed<Body>());
    const set = subscription.sharedKey(this.#nameSets);
    return known.get(set && `${type} ${view.contentKey(type)} ${set}`, () => {
      const isWhole = subscription.isSoleWildcard;
      const members = isWhole
        ? view.whole(type)
        : [{ puts: this.#selections.all(view, type, subscription).puts, removed: [], missing: [] }];
      const version = pendingRemovals.isEmpty
        ? view.typeVersion(type)
        : view.typeVersionWith(type, pendingRemovals.sum, pendingRemovals.marks);
      const segments = pendingRemovals.isEmpty ? members : [...members, pendingRemovals.segment];
      return { variant: "sotw", type, version, segments, ...this.#marks("sotw", view, type) };
    });
  }

  /** A delta body that only removes names; shared by equal removals. */
  removals(view: View, type: TypeUrl, removed: readonly string[]): Body {
    return this.#body("delta", view, type, `removal ${JSON.stringify(removed)}`, () => [
      { puts: [], removed, missing: [] },
    ]);
  }

  /** A body of just this segment; a small one is shared by streams that are sent the same. */
  own(variant: Variant, view: View, type: TypeUrl, segment: Segment): Body {
    const names = segment.puts.length + segment.removed.length + segment.missing.length;
    const version = this.version(variant, view, type);
    const make = (): Body => this.#make(variant, view, type, [segment]);
    if (names > OWN_NAMES_SHARED || areLong(segment)) return make();
    const puts = segment.puts.map((put) => this.#idOf(put));
    const key = JSON.stringify([variant, type, version, puts, segment.removed, segment.missing]);
    return this.#own.get(key, make);
  }

  /**
   * A body with these resources at its end, in their order; the body itself if it has none of them. The same body for
   * the same array.
   */
  takersLast(body: Body, takers: readonly string[]): Body {
    const known = memo(this.#inOrder, body, () => new WeakMap<readonly string[], Body>());
    return memo(known, takers, () => withLast(body, takers));
  }

  /**
   * The heartbeat of these resources at the version that the client knows; the same body for the same array. In State
   * of the World it carries the whole resources (client-behaviours E3).
   */
  heartbeat(variant: Variant, type: TypeUrl, version: string, held: readonly (Past | Resource)[]): Body {
    const known = memo(this.#heartbeats, held, () => new Map<string, Body>());
    return memo(known, `${variant} ${version}`, () => {
      const whole = held.flatMap((one) => ("bytes" in one ? [one] : []));
      const segment: Segment =
        variant === "delta"
          ? { puts: [], removed: [], missing: [], heartbeats: held }
          : { puts: whole, removed: [], missing: [] };
      return { variant, type, version, segments: [segment], ...this.#carriesTtls };
    });
  }

  /** The resources of a body that have a TTL; computed once. */
  timedIn(body: Body): Timed {
    const known = this.#timedIn.get(body);
    if (known !== undefined) return known;
    const timed = timedOf(body.segments.flatMap(({ puts }) => puts));
    this.#timedIn.set(body, timed);
    return timed;
  }

  /** The `version_info`, or for delta the `system_version_info`. */
  version(variant: Variant, view: View, type: TypeUrl): string {
    return variant === "delta" && this.#systemVersion !== undefined ? this.#systemVersion : view.typeVersion(type);
  }

  /** A number for this object: other resources may have the same name and version. */
  #idOf(resource: Resource): number {
    const known = this.#ids.get(resource);
    if (known !== undefined) return known;
    this.#ids.set(resource, ++this.#lastId);
    return this.#lastId;
  }

  get #carriesTtls(): Pick<Body, "ttls"> {
    return this.#ttls === "told" ? { ttls: "told" } : {};
  }

  #marks(variant: Variant, view: View, type: TypeUrl): Pick<Body, "ttls" | "isCanary"> {
    const isCanary = variant === "sotw" && view.isCanary(type);
    return isCanary ? { ...this.#carriesTtls, isCanary } : this.#carriesTtls;
  }

  #body(variant: Variant, view: View, type: TypeUrl, what: string, segments: () => readonly Segment[]): Body {
    return this.#bodies.get(`${variant} ${type} ${view.contentKey(type)} ${what}`, () =>
      this.#make(variant, view, type, segments()),
    );
  }

  #make(variant: Variant, view: View, type: TypeUrl, segments: readonly Segment[]): Body {
    const version = this.version(variant, view, type);
    return { ...{ variant, type, version, segments }, ...this.#marks(variant, view, type) };
  }
}

/** Segments without any of the names are kept as they are: they are encoded already. */
function withLast(body: Body, names: readonly string[]): Body {
  const last = new Map<string, Resource | undefined>(names.map((name) => [name, undefined]));
  const others = body.segments.map((segment) => {
    if (!segment.puts.some(({ name }) => last.has(name))) return segment;
    for (const put of segment.puts) if (last.has(put.name)) last.set(put.name, put);
    return { ...segment, puts: segment.puts.filter(({ name }) => !last.has(name)) };
  });
  const puts = [...last.values()].filter((put) => put !== undefined);
  return puts.length === 0 ? body : { ...body, segments: [...others, { puts, removed: [], missing: [] }] };
}

/** Whether a key with the names that a client asked for would take much. */
function areLong({ removed, missing }: Segment): boolean {
  return countOfAll(removed) + countOfAll(missing) > OWN_NAMES_SHARED;
}
