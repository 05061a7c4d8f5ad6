import type { Body, Segment } from "../message/body.ts";
import type { Resource } from "../resource/resource.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { createResource, type Digest } from "../resource/version.ts";
import { type Difference, differenceBetween, type Position, positionKey } from "../state/difference.ts";
import type { View } from "../state/view.ts";
import type { Variant } from "./event.ts";
import { type NameSet, NameSets } from "./name-set.ts";
import type { Comparison } from "./resume.ts";
import type { Subscription } from "./subscription.ts";

/** Of a difference or of all there is, what some subscription covers. */
export interface Selection {
  readonly puts: readonly Resource[];
  /** Names that were covered and have no covered holder now. */
  readonly removed: readonly string[];
}

/** How many bodies made for single streams are kept to be shared. */
const OWN_BODIES_KEPT = 4096;

/**
 * The newest state, with everything that was made of it for one stream and serves others too: differences, selections of
 * name sets, comparisons, bodies. All of that is forgotten when the next transaction takes effect.
 */
export class Present {
  readonly nameSets: NameSets = new NameSets();
  readonly #digest: Digest;
  #revision = 0;
  #systemVersion: string | undefined;
  readonly #differences = new Map<string, Difference>();
  readonly #selections = new Map<string, Selection>();
  readonly #bodies = new Map<string, Body>();
  readonly #ownBodies = new Map<string, Body>();
  readonly #comparisons = new Map<string, Comparison>();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  get revision(): number {
    return this.#revision;
  }

  /** A transaction took effect. */
  advance(revision: number, systemVersion: string | undefined): void {
    this.#revision = revision;
    if (systemVersion !== undefined) this.#systemVersion = systemVersion;
    for (const made of [this.#differences, this.#selections, this.#bodies, this.#ownBodies, this.#comparisons])
      made.clear();
  }

  difference(from: Position, view: View, type: TypeUrl): Difference {
    return remembered(this.#differences, `${type} ${view.key} ${positionKey(from, view, type)}`, () =>
      differenceBetween(from, view, type),
    );
  }

  /** What of a difference a subscription covers; computed once for all who ask for the same names. */
  selectChanges(from: Position, view: View, type: TypeUrl, subscription: Subscription): Selection {
    const key = `${type} ${view.key} ${positionKey(from, view, type)} ${this.#setKey(subscription)}`;
    return remembered(this.#selections, key, () => selectFrom(this.difference(from, view, type), subscription));
  }

  /** Everything that a subscription covers; `removed` are the terms that stand for nothing. */
  selectAll(view: View, type: TypeUrl, subscription: Subscription): Selection {
    return remembered(this.#selections, `${type} ${view.key} all ${this.#setKey(subscription)}`, () =>
      selectWhole(view, type, subscription),
    );
  }

  /** The body of everything that a wildcard covers. */
  wholeBody(variant: Variant, view: View, type: TypeUrl): Body {
    return this.#body(variant, view, type, "whole", () => view.whole(type));
  }

  /** The body of a whole difference, as a wildcard is told it. */
  differenceBody(variant: Variant, from: Position, view: View, type: TypeUrl): Body {
    return this.#body(
      variant,
      view,
      type,
      positionKey(from, view, type),
      () => this.difference(from, view, type).segments,
    );
  }

  /** The body of a selection: the same one for the same selection and missing names. */
  selectionBody(
    variant: Variant,
    view: View,
    type: TypeUrl,
    subscription: Subscription,
    make: () => Segment,
    from: Position | undefined,
  ): Body {
    const at = from === undefined ? "all" : positionKey(from, view, type);
    return this.#body(variant, view, type, `${at} ${this.#setKey(subscription)}`, () => [make()]);
  }

  /** A body of just these; shared with streams that are told the same few names. */
  ownBody(variant: Variant, view: View, type: TypeUrl, segment: Segment): Body {
    const names = segment.puts.length + segment.removed.length + segment.missing.length;
    const make = (): Body => ({ variant, type, version: this.version(variant, view, type), segments: [segment] });
    if (names > 16 || this.#ownBodies.size >= OWN_BODIES_KEPT) return make();
    const told = segment.puts.map((put) => `${put.name} ${put.version}`);
    const key = JSON.stringify([
      variant,
      type,
      this.version(variant, view, type),
      told,
      segment.removed,
      segment.missing,
    ]);
    return remembered(this.#ownBodies, key, make);
  }

  /** What stands in for a name that nothing answers to but something in the view refers to. */
  placeholder({ type, placeholder }: TypeTraits, view: View, name: string): Resource | undefined {
    if (placeholder === undefined || !view.refersTo(type, name)) return undefined;
    return createResource({ type, name, bytes: placeholder(name) }, this.#digest);
  }

  /** What a comparison with equal initial versions found, or the one to be carried on. */
  comparison(key: string | undefined, make: () => Comparison): Comparison {
    return key === undefined ? make() : remembered(this.#comparisons, key, make);
  }

  /** `version_info`, or delta's `system_version_info`. */
  version(variant: Variant, view: View, type: TypeUrl): string {
    return variant === "delta" && this.#systemVersion !== undefined ? this.#systemVersion : view.typeVersion(type);
  }

  /** A name for what a subscription covers. */
  #setKey(subscription: Subscription): string {
    const set: NameSet = subscription.nameSet(this.nameSets);
    return subscription.isWildcard ? `* ${set.key}` : set.key;
  }

  #body(variant: Variant, view: View, type: TypeUrl, what: string, segments: () => readonly Segment[]): Body {
    return remembered(this.#bodies, `${variant} ${type} ${view.key} ${what}`, () => ({
      variant,
      type,
      version: this.version(variant, view, type),
      segments: segments(),
    }));
  }
}

function selectFrom(difference: Difference, subscription: Subscription): Selection {
  const puts: Resource[] = [];
  const removed: string[] = [];
  for (const { name, then, now } of difference.changes) {
    const wasCovered = then !== undefined && subscription.covers(then);
    if (now !== undefined && subscription.covers(now)) {
      if (!(wasCovered && then.version === now.version)) puts.push(now);
    } else if (wasCovered) removed.push(name);
  }
  return { puts, removed };
}

function selectWhole(view: View, type: TypeUrl, subscription: Subscription): Selection {
  const puts = new Map<string, Resource>();
  if (subscription.isWildcard) {
    for (const resource of view.members(type)) if (!resource.onDemand) puts.set(resource.name, resource);
  }
  const removed: string[] = [];
  for (const term of subscription.names) {
    const resource = view.find(type, term);
    if (resource === undefined) removed.push(term);
    else puts.set(resource.name, resource);
  }
  return { puts: [...puts.values()], removed };
}

function remembered<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
