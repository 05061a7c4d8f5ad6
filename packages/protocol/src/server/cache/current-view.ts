import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { Variant } from "../../message/variant.ts";
import type { ErrorSet } from "../../resource/error-set.ts";
import type { Resource } from "../../resource/resource.ts";
import type { SentMark, Ttls } from "../../resource/ttl.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Change, Difference, Position } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import type { Timed, View } from "../../state/view.ts";
import type { Selection } from "../subscription/selection.ts";
import type { Scope, Subscription } from "../subscription/subscription.ts";
import type { PendingRemovals, Removable, Step } from "./pending-removals.ts";
import type { Served } from "./served.ts";
import type { SharedResponses } from "./shared-responses.ts";
import type { PendingResource } from "./shared-selections.ts";

/**
 * A view at the newest revision, with everything that was computed from it for one client and serves others too. It is
 * one object for all streams and polls of the view, and moves on with each transaction.
 */
export class CurrentView {
  readonly view: View;
  /** What all views share. */
  readonly shared: SharedResponses;
  #withTtls: CurrentView | undefined;

  constructor(view: View, shared: SharedResponses) {
    this.view = view;
    this.shared = shared;
  }

  get revision(): number {
    return this.shared.revision;
  }

  /** Whether bodies made here carry TTLs. */
  get ttls(): Ttls {
    return this.shared.ttls;
  }

  /** The position of a client that was sent everything. */
  toPosition(): Position {
    return { view: this.view, revision: this.shared.revision };
  }

  /** The same for clients that are sent the TTLs of a type; this object, if the type never had any. */
  forTtls(type: TypeUrl, ttl: TtlVerdict): CurrentView {
    const shared = this.shared.forTtls(type, ttl, this.view);
    if (shared === this.shared) return this;
    this.#withTtls ??= new CurrentView(this.view, shared);
    return this.#withTtls;
  }

  /** Whether a name has the state that a client was sent; TTLs count only where they are sent. */
  isSame(a: SentMark | undefined, b: SentMark | undefined): boolean {
    return this.shared.isSame(a, b);
  }

  /** What changed since a position. */
  differenceSince(from: Position, type: TypeUrl): Difference {
    return this.shared.changes.between(from, this.view, type);
  }

  /** The changes since a position among which are all that concern a subscription. */
  changesConcerning(subscription: Subscription, from: Position, type: TypeUrl): readonly Change[] {
    return this.shared.changes.concerning(subscription, from, this.view, type);
  }

  /** The names that changed since a position. */
  namesSince(from: Position, type: TypeUrl): ReadonlySet<string> {
    return this.shared.changes.names(from, this.view, type);
  }

  /** The names that had no resource at a position and have one now. */
  newNamesSince(from: Position, type: TypeUrl): ReadonlySet<string> {
    return this.shared.changes.newcomers(from, this.view, type);
  }

  /** The names that had a resource at a position and have one now that references something else. */
  retargetedSince(from: Position, type: TypeUrl): ReadonlySet<string> {
    return this.shared.changes.retargeted(from, this.view, type);
  }

  /** Those of them that referenced resources of their own type, or do now: aggregate Clusters. */
  regroupedSince(from: Position, type: TypeUrl): ReadonlySet<string> {
    return this.shared.changes.regrouped(from, this.view, type);
  }

  /** Whether any of them references something of these types that has no resource, and did not reference it before. */
  isAnyVacatedSince(from: Position, { type, owes }: TypeTraits): boolean {
    return this.shared.changes.isAnyVacated(from, this.view, type, owes);
  }

  /** The names that take over an address which another one gave up since a position, in the order to send them. */
  takersSince(from: Position, traits: TypeTraits): readonly string[] {
    return this.shared.changes.takers(from, this.view, traits);
  }

  /** What changed since a position, by every term that a change may match. */
  changesByTerm(from: Position, type: TypeUrl): ReadonlyMap<string, readonly Change[]> {
    return this.shared.changes.byTerm(from, this.view, type);
  }

  /** The former states with a TTL of names that changed since a position; undefined: none. */
  timedPast(from: Position, type: TypeUrl): ReadonlyMap<string, Past> | undefined {
    return this.shared.changes.timedPast(from, this.view, type);
  }

  /** Everything that a subscription covers; `removed` has the terms without a resource. */
  select(type: TypeUrl, subscription: Subscription): Selection {
    return this.shared.selections.all(this.view, type, subscription);
  }

  /** What a subscription covers of the changes since a position. */
  selectSince(from: Position, type: TypeUrl, subscription: Subscription): Selection {
    return this.shared.selections.ofChanges(from, this.view, type, subscription);
  }

  /** What a subscription covers and has a TTL. */
  selectTimed(type: TypeUrl, subscription: Subscription): Timed {
    return this.shared.selections.timed(this.view, type, subscription);
  }

  /** The names of a collection that a wildcard covers. */
  baseOf(type: TypeUrl, collection: string): readonly string[] {
    return this.shared.selections.baseOf(this.view, type, collection);
  }

  /** A resource with the other terms by which a client subscribes to it as aliases (S-VHD-03). */
  answering(resource: Resource, subscription: Subscription): Resource {
    return this.shared.selections.answering(resource, this.view, subscription);
  }

  /** What a client at a position is about to be sent; everything, if it was sent nothing. */
  pendingResources(from: Position | undefined, type: TypeUrl, subscription: Subscription): Iterable<PendingResource> {
    return this.shared.selections.pendingResources(from, this.view, type, subscription);
  }

  /** The resource errors that a subscription covers. */
  errorsFor(type: TypeUrl, subscription: Subscription): ErrorSet {
    return this.shared.errors.of(this.view, type, subscription, this.shared.nameSets);
  }

  /** Whether a resource references one of these types by a name without a resource. */
  isVacant(resource: Resource, owes: readonly TypeUrl[]): boolean {
    return this.shared.isVacant(resource, this.view, owes);
  }

  /** The placeholder for a name that has no resource but is referenced in the view; undefined: none. */
  placeholder(traits: TypeTraits, name: string): Resource | undefined {
    return this.shared.placeholder(traits, this.view, name);
  }

  /** The `version_info`, or for delta the `system_version_info`. */
  version(variant: Variant, type: TypeUrl): string {
    return this.shared.bodies.version(variant, this.view, type);
  }

  /** The body of everything that a wildcard covers. */
  wholeBody(variant: Variant, type: TypeUrl): Body {
    return this.shared.bodies.whole(variant, this.view, type);
  }

  /** The body of everything that changed since a position, for a wildcard. */
  bodySince(variant: Variant, from: Position, type: TypeUrl): Body {
    return this.shared.bodies.ofChanges(variant, from, this.view, type);
  }

  /** The body of a selection. `from`: the position of the client, undefined for all resources. */
  selectionBody(
    variant: Variant,
    type: TypeUrl,
    subscription: Subscription,
    make: () => Segment,
    from: Position | undefined,
  ): Body {
    return this.shared.bodies.ofSelection(variant, this.view, type, subscription, make, from);
  }

  /** The body of a full state that also lists pending removals. */
  fullBody(type: TypeUrl, subscription: Subscription, pendingRemovals: PendingRemovals): Body {
    return this.shared.bodies.full(this.view, type, subscription, pendingRemovals);
  }

  /** A delta body that only removes names. */
  removalBody(type: TypeUrl, removed: readonly string[]): Body {
    return this.shared.bodies.removals(this.view, type, removed);
  }

  /** A body of just this segment. */
  ownBody(variant: Variant, type: TypeUrl, segment: Segment): Body {
    return this.shared.bodies.own(variant, this.view, type, segment);
  }

  /** A body with these resources at its end, in their order. */
  takersLast(body: Body, takers: readonly string[]): Body {
    return this.shared.bodies.takersLast(body, takers);
  }

  /** The pending removals of a client after it was sent what changed since a position. */
  stepRemovals(
    pendingRemovals: PendingRemovals,
    from: Position,
    what: { type: TypeUrl; subscription: Subscription; asked: Scope } & Pick<Removable, "goesAtOnce">,
  ): Step {
    return this.shared.pendingRemovals.step(pendingRemovals, from, this.view, what);
  }

  /** The pending removals of a client after its position advanced. */
  carryOver(pendingRemovals: PendingRemovals, from: Position, type: TypeUrl): PendingRemovals {
    return this.shared.pendingRemovals.carryOver(pendingRemovals, from, this.view, type);
  }

  /** What clients were sent under a version, here or by a server with the same changes; undefined: not known (any more). */
  servedAs(type: TypeUrl, version: string): Served | undefined {
    const { served, past } = this.shared;
    return served.find(type, version, this.view) ?? past.find(type, version, this.view);
  }

  /** Notes that a client was sent the present state under a version. */
  noteServed({ type, version }: Pick<Body, "type" | "version">, pendingRemovals: PendingRemovals): void {
    this.shared.served.note({ type, version, position: this.toPosition(), pendingRemovals });
  }
}

/** The current state of every view: one object for each, as long as the view is in use. */
export class CurrentViews {
  readonly #shared: SharedResponses;
  readonly #known = new WeakMap<View, CurrentView>();

  constructor(shared: SharedResponses) {
    this.#shared = shared;
  }

  of(view: View): CurrentView {
    const known = this.#known.get(view);
    if (known !== undefined) return known;
    const made = new CurrentView(view, this.#shared);
    this.#known.set(view, made);
    return made;
  }
}
