import type { TtlVerdict } from "../dialect/ttl.ts";
import type { Body, Segment } from "../message/body.ts";
import type { Variant } from "../message/variant.ts";
import { type Resource, referredNames } from "../resource/resource.ts";
import { isSame, type Mark, type Ttls } from "../resource/ttl.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { createResource, type Digest } from "../resource/version.ts";
import { type Difference, differenceBetween, type Position, positionKey, wasTouched } from "../state/difference.ts";
import type { Past } from "../state/journal.ts";
import { type Timed, timedOf, type View } from "../state/view.ts";
import { SharedErrors } from "./error-news.ts";
import {
  type HeldOverSet,
  type Parting,
  partAt,
  type Removable,
  type Step,
  stepFrom,
  type Withheld,
  withhold,
} from "./held-over.ts";
import { type NameSet, NameSets } from "./name-set.ts";
import type { Comparison } from "./resume.ts";
import { answeredTerms, type Selection, selectFrom, selectWhole } from "./selection.ts";
import { ServedVersions } from "./served.ts";
import { Parts } from "./split.ts";
import type { Scope, Subscription } from "./subscription.ts";

/** Something that is about to be sent, and what it takes the place of; undefined where that is not known. */
export interface Upcoming {
  readonly resource: Resource;
  readonly replaces: Uses | undefined;
}

/** What something refers to. */
export type Uses = Pick<Past, "references">;

/** Something was there, and it is not known what it used. */
export const unknownUses: Uses = { references: [] };

/** What two presents of one state have in common, and in what they differ. */
interface PresentOptions {
  readonly ttls?: Ttls;
  readonly nameSets?: NameSets;
  readonly served?: ServedVersions;
}

/** How many bodies made for single streams are kept to be shared. */
const OWN_BODIES_KEPT = 4096;

/**
 * The newest state, with everything that was made of it for one stream and serves others too: differences, selections of
 * name sets, comparisons, bodies. All of that is forgotten when the next transaction takes effect.
 */
export class Present {
  readonly nameSets: NameSets;
  readonly served: ServedVersions;
  /** The responses that large bodies leave in. */
  readonly parts: Parts = new Parts();
  /** What becomes of errors that stand in place of resources. */
  readonly errors: SharedErrors = new SharedErrors();
  /** Whether ttls are told in what is made here. */
  readonly ttls: Ttls;
  readonly #digest: Digest;
  #withTtls: Present | undefined;
  #revision = 0;
  #systemVersion: string | undefined;
  readonly #differences = new Map<string, Difference>();
  readonly #selections = new Map<string, Selection>();
  readonly #bodies = new Map<string, Body>();
  readonly #ownBodies = new Map<string, Body>();
  readonly #comparisons = new Map<string, Comparison>();
  readonly #answers = new Map<Resource, Map<string, Resource>>();
  readonly #bases = new Map<string, readonly string[]>();
  readonly #idsOfSets = new WeakMap<HeldOverSet, number>();
  #lastId = 0;
  readonly #steps = new Map<string, Step>();
  readonly #partings = new Map<string, Parting>();
  readonly #carriedOver = new Map<string, HeldOverSet>();
  readonly #resumed = new Map<HeldOverSet, HeldOverSet>();
  readonly #withheld = new Map<Body, Map<string, Withheld>>();
  readonly #newcomers = new Map<string, ReadonlySet<string>>();
  readonly #newUses = new Map<Resource, Map<object, Map<TypeUrl, ReadonlySet<string>>>>();
  readonly #changedNames = new Map<string, ReadonlySet<string>>();
  readonly #timed = new Map<string, Timed>();
  readonly #timedIn = new WeakMap<Body, Timed>();
  readonly #heartbeats = new Map<readonly (Past | Resource)[], Map<string, Body>>();

  constructor(
    digest: Digest,
    { ttls = "left-off", nameSets = new NameSets(), served = new ServedVersions() }: PresentOptions = {},
  ) {
    this.#digest = digest;
    this.ttls = ttls;
    this.nameSets = nameSets;
    this.served = served;
  }

  get revision(): number {
    return this.#revision;
  }

  /**
   * The state as it is told to whoever is told of ttls. What is made for them is kept apart: it has other differences and
   * other bodies. Of a type of which nothing ever had a ttl it is this very one, and everybody shares everything.
   */
  forTtls(type: TypeUrl, ttl: TtlVerdict, view: View): Present {
    if (ttl !== "told" || !view.knowsTtls(type)) return this;
    if (this.#withTtls === undefined) {
      const { nameSets, served } = this;
      this.#withTtls = new Present(this.#digest, { ttls: "told", nameSets, served });
      this.#withTtls.advance(this.#revision, this.#systemVersion);
    }
    return this.#withTtls;
  }

  /** Whether, to those for whom this is made, what they were told is the same as what they would be. */
  isSame(a: Mark | undefined, b: Mark | undefined): boolean {
    return isSame(a, b, this.ttls);
  }

  /** A transaction took effect. */
  advance(revision: number, systemVersion: string | undefined): void {
    this.#revision = revision;
    if (systemVersion !== undefined) this.#systemVersion = systemVersion;
    this.#withTtls?.advance(revision, systemVersion);
    const all = [
      this.#differences,
      this.#selections,
      this.#bodies,
      this.#ownBodies,
      this.#comparisons,
      this.#answers,
      this.#bases,
    ];
    const ofClusters = [
      this.#steps,
      this.#partings,
      this.#carriedOver,
      this.#resumed,
      this.#withheld,
      this.#newcomers,
      this.#changedNames,
      this.#newUses,
    ];
    for (const made of [...all, ...ofClusters, this.#timed, this.#heartbeats]) made.clear();
  }

  /** Takes up the count of a server that was there before. */
  resumeAt(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
    this.#withTtls?.resumeAt(revision);
  }

  difference(from: Position, view: View, type: TypeUrl): Difference {
    return remembered(this.#differences, `${type} ${view.key} ${positionKey(from, view, type)}`, () =>
      differenceBetween(from, view, type, this.ttls),
    );
  }

  /** What of a difference a subscription covers; computed once for all who ask for the same names. */
  selectChanges(from: Position, view: View, type: TypeUrl, subscription: Subscription): Selection {
    const key = `${type} ${view.key} ${positionKey(from, view, type)} ${this.#setKey(subscription)}`;
    return remembered(this.#selections, key, () =>
      this.#answering(
        selectFrom(this.difference(from, view, type), view, subscription, { type, ttls: this.ttls }),
        view,
        subscription,
      ),
    );
  }

  /** What becomes of the Clusters of everybody who stands there, asks for the same, and holds the same over. */
  step(
    heldOver: HeldOverSet,
    from: Position,
    view: View,
    {
      type,
      subscription,
      asked,
      goesAtOnce,
    }: { type: TypeUrl; subscription: Subscription; asked: Scope } & Pick<Removable, "goesAtOnce">,
  ): Step {
    const { scope } = subscription;
    const make = (): Step => {
      const difference = this.difference(from, view, type);
      const { ttls } = this;
      return stepFrom(
        heldOver,
        difference,
        { before: asked, after: scope },
        { revision: this.#revision, goesAtOnce, ttls },
      );
    };
    const asksTheSame = asked.isWildcard === scope.isWildcard && asked.names === scope.names;
    if (goesAtOnce !== undefined || !asksTheSame) return make();
    const key = `${this.#idOf(heldOver)} ${type} ${view.key} ${positionKey(from, view, type)} ${this.#setKey(subscription)}`;
    return remembered(this.#steps, key, make);
  }

  /**
   * The set of somebody who stood there until now. What came and went since may have been used in the meantime: it is gone
   * since now.
   */
  carryOver(set: HeldOverSet, from: Position, view: View, type: TypeUrl): HeldOverSet {
    if (set.isEmpty) return set;
    return remembered(this.#carriedOver, `${this.#idOf(set)} ${view.key} ${positionKey(from, view, type)}`, () =>
      set.goneAnew((name) => wasTouched(from, view, type, name), this.#revision),
    );
  }

  /** The set of somebody who comes back: nobody knows what he used since, so all of it is gone since now. */
  resume(set: HeldOverSet): HeldOverSet {
    return remembered(this.#resumed, set, () => set.goneAnew(() => true, this.#revision));
  }

  /** What of a set may be removed, up to a revision. */
  part(set: HeldOverSet, removableTo: number): Parting {
    if (set.oldest > removableTo) return { stays: set, goes: [] };
    const key = `${this.#idOf(set)} ${Math.min(set.newest, removableTo)}`;
    return remembered(this.#partings, key, () => partAt(set, removableTo));
  }

  /** A body of delta without the removals that have to wait, and with those that have waited. */
  withhold(
    body: Body,
    heldOver: HeldOverSet,
    removable: Removable,
    {
      asked,
      past,
    }: { readonly asked: ReadonlySet<string> | undefined; readonly past: ReadonlyMap<string, Past> | undefined },
  ): Withheld {
    const removes = body.segments.some((segment) => segment.removed.length > 0);
    if (heldOver.isEmpty && (!removes || removable.to >= this.#revision)) return { heldOver, body };
    const make = (): Withheld =>
      withhold(body, heldOver, {
        revision: this.#revision,
        removable,
        ...(asked !== undefined && { asked }),
        ...(past !== undefined && { pastOf: (name) => past.get(name) }),
      });
    if (past !== undefined || removable.goesAtOnce !== undefined || (asked !== undefined && asked.size > 0))
      return make();
    const known = remembered(this.#withheld, body, () => new Map<string, Withheld>());
    return remembered(known, `${this.#idOf(heldOver)} ${Math.min(this.#revision, removable.to)}`, make);
  }

  /** What somebody who stands there is about to be told; everything, for somebody who was told nothing. */
  *upcoming(from: Position | undefined, view: View, type: TypeUrl, subscription: Subscription): Iterable<Upcoming> {
    if (from === undefined) {
      for (const resource of this.selectAll(view, type, subscription).puts) yield { resource, replaces: undefined };
      return;
    }
    for (const { then, now } of this.difference(from, view, type).changes) {
      if (now !== undefined && subscription.covers(now)) yield { resource: now, replaces: then };
    }
  }

  /** Names that are not what they were at a position. */
  changedNames(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    return remembered(this.#changedNames, `${type} ${view.key} ${positionKey(from, view, type)}`, () => {
      return new Set(this.difference(from, view, type).changes.map(({ name }) => name));
    });
  }

  /** Names that nothing answered to at a position and something does now. */
  newcomers(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    return remembered(this.#newcomers, `${type} ${view.key} ${positionKey(from, view, type)}`, () => {
      const { changes } = this.difference(from, view, type);
      return new Set(changes.flatMap(({ name, then, now }) => (then === undefined && now !== undefined ? [name] : [])));
    });
  }

  /** Everything that a subscription covers; `removed` are the terms that stand for nothing. */
  selectAll(view: View, type: TypeUrl, subscription: Subscription): Selection {
    return remembered(this.#selections, `${type} ${view.key} all ${this.#setKey(subscription)}`, () =>
      this.#answering(selectWhole(view, type, subscription), view, subscription),
    );
  }

  /** A resource as it is sent to whoever asked for it by these terms too (S-VHD-03). */
  answering(resource: Resource, view: View, subscription: Subscription): Resource {
    if (subscription.terms === undefined) return resource;
    const terms = answeredTerms(resource, view, resource.type, subscription);
    if (terms.length === 0) return resource;
    const known = remembered(this.#answers, resource, () => new Map<string, Resource>());
    return remembered(known, JSON.stringify(terms), () => ({ ...resource, aliases: [...resource.aliases, ...terms] }));
  }

  #answering(selection: Selection, view: View, subscription: Subscription): Selection {
    if (subscription.terms === undefined) return selection;
    return { ...selection, puts: selection.puts.map((put) => this.answering(put, view, subscription)) };
  }

  /** Of a collection of the type's own, what a wildcard covers. */
  baseOf(view: View, type: TypeUrl, collection: string): readonly string[] {
    return remembered(this.#bases, `${type} ${view.key} ${collection}`, () =>
      [...view.within(type, collection)].flatMap(({ name, onDemand }) => (onDemand ? [] : [name])),
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

  /** The body of a full state, with what is held over beside it. */
  fullBody(view: View, type: TypeUrl, subscription: Subscription, heldOver: HeldOverSet): Body {
    const key = `sotw ${type} ${view.key} full ${this.#idOf(heldOver)} ${this.#setKey(subscription)}`;
    return remembered(this.#bodies, key, () => {
      const isWhole = subscription.isSoleWildcard;
      const members = isWhole
        ? view.whole(type)
        : [{ puts: this.selectAll(view, type, subscription).puts, removed: [], missing: [] }];
      const version = heldOver.isEmpty ? view.typeVersion(type) : view.typeVersionWith(type, heldOver.sum);
      const segments = heldOver.isEmpty ? members : [...members, heldOver.segment];
      return { variant: "sotw", type, version, segments, ...this.#marks("sotw", view, type) };
    });
  }

  /** The body of names that are gone; shared with streams that are told the same. */
  removalBody(view: View, type: TypeUrl, removed: readonly string[]): Body {
    return this.#body("delta", view, type, `removal ${JSON.stringify(removed)}`, () => [
      { puts: [], removed, missing: [] },
    ]);
  }

  /** A body of just these; shared with streams that are told the same few names. */
  ownBody(variant: Variant, view: View, type: TypeUrl, segment: Segment): Body {
    const names = segment.puts.length + segment.removed.length + segment.missing.length;
    const version = this.version(variant, view, type);
    const make = (): Body => ({
      ...{ variant, type, version, segments: [segment] },
      ...this.#marks(variant, view, type),
    });
    if (names > 16 || this.#ownBodies.size >= OWN_BODIES_KEPT) return make();
    // Of one version, one may list more of the terms that it was asked for by.
    const told = segment.puts.map((put) => [put.name, put.version, put.ttlMs, ...put.aliases]);
    const key = JSON.stringify([variant, type, version, told, segment.removed, segment.missing]);
    return remembered(this.#ownBodies, key, make);
  }

  /** What of a type a resource names that the one before it did not; found once for all who are told of it. */
  newUses(resource: Resource, before: Uses, type: TypeUrl): ReadonlySet<string> {
    const known = remembered(this.#newUses, resource, () => new Map<object, Map<TypeUrl, ReadonlySet<string>>>());
    const byType = remembered(known, before, () => new Map<TypeUrl, ReadonlySet<string>>());
    return remembered(byType, type, () => {
      const used = new Set(referredNames(before, type));
      return new Set(referredNames(resource, type).filter((name) => !used.has(name)));
    });
  }

  /** Whether a resource waits for another one of these types that is not there: a Cluster without endpoints. */
  isVacant({ references }: Resource, view: View, owes: readonly TypeUrl[]): boolean {
    return references.some(({ type, name }) => owes.includes(type) && view.find(type, name) === undefined);
  }

  /** What stands in for a name that nothing answers to but something in the view refers to. */
  placeholder({ type, placeholder }: TypeTraits, view: View, name: string): Resource | undefined {
    if (placeholder === undefined || !view.refersTo(type, name) || view.error(type, name) !== undefined)
      return undefined;
    return createResource({ type, name, bytes: placeholder(name) }, this.#digest);
  }

  /** What a subscription covers and has a ttl; found once for all who ask for the same names. */
  timed(view: View, type: TypeUrl, subscription: Subscription): Timed {
    const all = view.timed(type);
    if (all.resources.length === 0) return all;
    return remembered(this.#timed, `${type} ${view.key} ${this.#setKey(subscription)}`, () =>
      timedOf(all.resources.filter((resource) => subscription.covers(resource))),
    );
  }

  /** What has a ttl in a body; looked for once. */
  timedIn(body: Body): Timed {
    const known = this.#timedIn.get(body);
    if (known !== undefined) return known;
    const timed = timedOf(body.segments.flatMap(({ puts }) => puts));
    this.#timedIn.set(body, timed);
    return timed;
  }

  /** What names were at a position that had a ttl and are not what they were; undefined: there are none. */
  timedPast(from: Position, view: View, type: TypeUrl): ReadonlyMap<string, Past> | undefined {
    if (this.ttls === "left-off") return undefined;
    const { changes } = this.difference(from, view, type);
    const timed = changes.flatMap(({ name, then }) => (then?.ttlMs === undefined ? [] : [[name, then] as const]));
    return timed.length === 0 ? undefined : new Map(timed);
  }

  /**
   * The body that keeps alive what is held for a time, at the version that the client knows; the same one for the same
   * resources, by identity. In State of the World it has the whole resources (client-behaviours E3).
   */
  heartbeatBody(variant: Variant, type: TypeUrl, version: string, held: readonly (Past | Resource)[]): Body {
    const known = remembered(this.#heartbeats, held, () => new Map<string, Body>());
    return remembered(known, `${variant} ${version}`, () => {
      const whole = held.flatMap((one) => ("bytes" in one ? [one] : []));
      const segment: Segment =
        variant === "delta"
          ? { puts: [], removed: [], missing: [], heartbeats: held }
          : { puts: whole, removed: [], missing: [] };
      return { variant, type, version, segments: [segment], ...this.#carriesTtls };
    });
  }

  /** What a comparison with equal initial versions found, or the one to be carried on. */
  comparison(key: string | undefined, make: () => Comparison): Comparison {
    return key === undefined ? make() : remembered(this.#comparisons, key, make);
  }

  /** `version_info`, or delta's `system_version_info`. */
  version(variant: Variant, view: View, type: TypeUrl): string {
    return variant === "delta" && this.#systemVersion !== undefined ? this.#systemVersion : view.typeVersion(type);
  }

  get #carriesTtls(): Pick<Body, "ttls"> {
    return this.ttls === "told" ? { ttls: "told" } : {};
  }

  #marks(variant: Variant, view: View, type: TypeUrl): Pick<Body, "ttls" | "isCanary"> {
    const isCanary = variant === "sotw" && view.isCanary(type);
    return isCanary ? { ...this.#carriesTtls, isCanary } : this.#carriesTtls;
  }

  /** A name for this very set. */
  #idOf(set: HeldOverSet): number {
    const known = this.#idsOfSets.get(set);
    if (known !== undefined) return known;
    this.#idsOfSets.set(set, ++this.#lastId);
    return this.#lastId;
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
      ...this.#marks(variant, view, type),
    }));
  }
}

function remembered<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
