import { type Dialect, forKind } from "../../dialect/dialect.ts";
import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { Body } from "../../message/body.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import type { Variant } from "../../message/variant.ts";
import type { Resource } from "../../resource/resource.ts";
import { type TypeKind, typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { addSums } from "../../resource/version.ts";
import type { Position } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import type { Deliveries } from "../ack/delivery.ts";
import type { CurrentView } from "../cache/current-view.ts";
import {
  everythingRemovable,
  noPendingRemovals,
  type PendingRemovals,
  type Removable,
} from "../cache/pending-removals.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import { coversName, isSameScope, type Scope, type Subscription } from "../subscription/subscription.ts";
import type { ReadonlySentState } from "../type/readonly-sent-state.ts";
import type {
  ClassifiedRequest,
  DeferredRemovalState,
  FlushBounds,
  PendingResponse,
  TypeStream,
} from "../type/type-stream.ts";
import { replacedRemovals } from "./replaced-removals.ts";

/** Whether State of the World goes on listing deleted resources of a kind. */
export function listsDeleted(kind: TypeKind | undefined): boolean {
  return kind === "cds" || kind === "srds";
}

/**
 * Removes deleted Clusters and scopes of one stream last: until then delta does not send the removal, and State of the
 * World goes on listing them (S-ORD-05). In delta, the same for virtual hosts, for the endpoints of Clusters, and for types
 * that the client must not lose while a resource that it holds refers to them (S-DEL-04); State of the World cannot express
 * their removal. Everything else is left to the wrapped type stream.
 */
export class DeferredRemovals implements TypeStream, DeferredRemovalState {
  readonly #variant: Variant;
  readonly #machine: TypeStream;
  #pendingRemovals = noPendingRemovals;
  /** The subscription when the client was last sent something. */
  #asked: Scope;
  /** The version that a State of the World client reconnected with, until it is looked up. */
  #reported: string | undefined;
  /** What the first answer to such a client says of it. */
  #resumed: Pick<PendingResponse, "newToClient" | "changedForClient"> | undefined;

  /** Whether resources of a type are removed last. */
  static isFor({ kind }: TypeTraits, variant: Variant, { deltaRemovals }: Pick<Dialect, "deltaRemovals">): boolean {
    if (listsDeleted(kind)) return true;
    if (variant !== "delta" || kind === "lds") return false;
    return kind === "eds" || kind === "vhds" || forKind(deltaRemovals, kind) === "when-unreferenced";
  }

  constructor(variant: Variant, machine: TypeStream) {
    this.#variant = variant;
    this.#machine = machine;
    this.#asked = machine.subscription.scope;
  }

  get areClusters(): boolean {
    return this.traits.kind === "cds";
  }

  get deferredRemovals(): DeferredRemovalState {
    return this;
  }

  get traits(): TypeTraits {
    return this.#machine.traits;
  }

  get subscription(): Subscription {
    return this.#machine.subscription;
  }

  get deliveries(): Deliveries {
    return this.#machine.deliveries;
  }

  get namesAskedFor(): number {
    return this.#machine.namesAskedFor;
  }

  get namesKept(): number {
    return this.#machine.namesKept;
  }

  get saidBytes(): number {
    return this.#machine.saidBytes;
  }

  get sentState(): ReadonlySentState {
    return this.#machine.sentState;
  }

  get ttl(): TtlVerdict {
    return this.#machine.ttl;
  }

  get position(): Position | undefined {
    return this.#machine.position;
  }

  get needsChangesSince(): Position | undefined {
    return this.#machine.needsChangesSince;
  }

  get withholdsRemovals(): boolean {
    return this.#machine.withholdsRemovals === true;
  }

  get isPaused(): boolean {
    return this.#machine.isPaused;
  }

  get pendingRemovals(): PendingRemovals {
    return this.#pendingRemovals;
  }

  get untoldAbsences(): TypeStream["untoldAbsences"] {
    return this.#machine.untoldAbsences;
  }

  get unreleased(): string | undefined {
    if (!this.#namesEach()) return undefined;
    const [name] = this.#pendingRemovals.names.keys();
    return name;
  }

  /** A client drops by itself what it unsubscribes from. */
  onRequest(request: DiscoveryRequest): ClassifiedRequest {
    const before = this.subscription.scope;
    const classified = this.#machine.onRequest(request);
    if (request.kind === "sotw" && classified.as === "initial") this.#reported = request.versionInfo;
    this.#forgetDropped(before);
    return classified;
  }

  /**
   * Forgets pending removals that the client unsubscribed from. The aliases of a deleted resource are unknown: one that
   * is subscribed to by none of its names was subscribed to by an alias.
   */
  #forgetDropped(before: Scope): void {
    const { subscription } = this;
    if (this.#pendingRemovals.isEmpty || subscription.isWildcard) return;
    const isDropped = (name: string): boolean =>
      !subscription.isNamed(name) && (subscription.names.size === 0 || coversName(before, name));
    this.#pendingRemovals = this.#pendingRemovals.without(isDropped);
  }

  resend(names: ReadonlySet<string>): boolean {
    return this.#machine.resend(names);
  }

  hasNews(view: View): boolean {
    return this.#machine.hasNews(view);
  }

  catchUp(revision: number): void {
    this.#machine.catchUp(revision);
  }

  isSent(name: string, current: CurrentView): boolean {
    return this.#machine.isSent(name, current);
  }

  removesAny(current: CurrentView): boolean {
    return this.#machine.removesAny(current);
  }

  pendingResources(current: CurrentView): Iterable<PendingResource> {
    return this.#machine.pendingResources(current);
  }

  isWaiting(view: View): boolean {
    return this.#machine.isWaiting(view) || (!this.#pendingRemovals.isEmpty && this.deliveries.isBlocked);
  }

  get canHoldBack(): boolean {
    return this.#machine.canHoldBack;
  }

  get canTellTargets(): boolean {
    return this.#machine.canTellTargets;
  }

  get canRelist(): boolean | undefined {
    return this.#machine.canRelist;
  }

  get heldBackFrom(): number {
    return this.#machine.heldBackFrom;
  }

  listedIn(view: View): ReadonlySet<string> {
    return this.#machine.listedIn?.(view) ?? nothing;
  }

  next(current: CurrentView, bounds: FlushBounds): readonly PendingResponse[] {
    // The usual flush: without removals there is nothing to defer.
    if (this.#pendingRemovals.isEmpty && this.#machine.mayRemove?.(current) === false)
      return this.#machine.next(current, bounds);
    if (this.#reported !== undefined) this.#takeUp(this.#reported, current);
    this.#returnReferenced(current.view);
    // As it is before anything is sent.
    const removableBefore = bounds.removable();
    const before = this.position;
    const held = this.#variant === "sotw" && this.#holdsBack ? [...this.sentState.heldBack.resources.keys()] : noNames;
    const hasPendingRemovals = this.#variant === "sotw" && !this.#pendingRemovals.isEmpty;
    const answers = this.#machine.next(current, hasPendingRemovals ? { ...bounds, hasPendingRemovals } : bounds);
    if (before !== undefined && this.position !== before) {
      this.#pendingRemovals = current.carryOver(this.#pendingRemovals, before, this.traits.type);
    }
    if (this.#variant === "delta" && this.#pendingRemovals.isEmpty && !answers.some(removes)) return answers;
    const removable = this.#removable(removableBefore, answers, current.view);
    const sent =
      this.#variant === "delta"
        ? this.#delta(answers, before, current, removable)
        : this.#sotw(answers, before, current, removable, held);
    if (this.position !== before) this.#asked = this.subscription.scope;
    return sent;
  }

  /** What is referred to again is no longer pending: its removal is withheld until nothing refers to it. */
  #returnReferenced(view: View): void {
    if (this.#pendingRemovals.isEmpty || this.#machine.withholdReferenced === undefined) return;
    const withheld = this.#machine.withholdReferenced(this.#pendingRemovals.names.keys(), view);
    this.#pendingRemovals = this.#pendingRemovals.without((name) => withheld.has(name));
  }

  #removable(removable: Removable, answers: readonly PendingResponse[], view: View): Removable {
    if (this.areClusters) return this.#namesEach() ? this.#releasable(removable, view) : removable;
    const later = { ...removable, goesAtOnce: undefined };
    if (this.#variant !== "delta" || !this.#isExclusive) return later;
    const isReplaced = replacedRemovals(this.traits, answers, view);
    // What exists again, and waits for a Cluster, is not removed.
    const { resources: waiting } = this.sentState.heldBack;
    const goesAtOnce = (name: string): boolean => isReplaced(name) && !waiting.has(name);
    const names = [...this.#pendingRemovals.names.keys(), ...answers.flatMap(removedIn)];
    const going = names.filter(goesAtOnce).length;
    // Alike for all of them, the responses of many clients are one.
    if (going === 0) return later;
    if (going === names.length) return everythingRemovable;
    this.#pendingRemovals = this.#pendingRemovals.deletedAt(goesAtOnce, Number.NEGATIVE_INFINITY);
    return { ...removable, goesAtOnce };
  }

  get #isExclusive(): boolean {
    return typeKindTable[this.traits.kind].isExclusive;
  }

  /**
   * For a client that subscribes by name: it drops what it unsubscribes from, and unsubscribes from what nothing uses
   * any more. A Cluster that is still referenced would never be given up, so it is not waited for.
   */
  #releasable({ to, namedTo, goesAtOnce }: Removable, view: View): Removable {
    const { type } = this.traits;
    const isNotGivenUp = (name: string): boolean => goesAtOnce?.(name) === true || view.refersTo(type, name);
    return { to: Math.min(to, namedTo), namedTo, goesAtOnce: isNotGivenUp };
  }

  /**
   * Whether the client subscribes to each Cluster by name, and unsubscribes from what it no longer uses, as gRPC does.
   */
  #namesEach(): boolean {
    if (!this.areClusters) return false;
    const { isWildcard, names, speaksOfParameters } = this.subscription;
    return !isWildcard && !speaksOfParameters && !names.hasCollections;
  }

  /** Looks up what a client holds that reconnected with a version. */
  #takeUp(version: string, current: CurrentView): void {
    this.#reported = undefined;
    const { type } = this.traits;
    if (version === current.view.typeVersion(type)) return;
    const served = current.servedAs(type, version);
    if (served === undefined) this.#resumed = { newToClient: "unknown" };
    else {
      const { subscription } = this;
      this.#pendingRemovals = current.shared.pendingRemovals.resume(served.pendingRemovals);
      if (!subscription.isWildcard)
        this.#pendingRemovals = this.#pendingRemovals.without((name) => !subscription.isNamed(name));
      this.#asked = this.subscription.scope;
      const newcomers = [...current.newNamesSince(served.position, type)];
      this.#resumed = {
        newToClient: new Set(newcomers.filter((name) => !served.pendingRemovals.names.has(name))),
        changedForClient: current.namesSince(served.position, type),
      };
      this.#machine.standAt?.(served.position);
    }
  }

  #delta(
    answers: readonly PendingResponse[],
    before: Position | undefined,
    current: CurrentView,
    removable: Removable,
  ): readonly PendingResponse[] {
    const past = before && current.timedPast(before, this.traits.type);
    const sent =
      answers.length === 0 ? answers : answers.flatMap((answer) => this.#withhold(answer, current, removable, past));
    if (sent.length > 0 || this.isPaused || this.deliveries.isBlocked) return sent;
    const { stays, goes } = current.shared.pendingRemovals.part(this.#pendingRemovals, removable.to);
    if (goes.length === 0) return [];
    this.#pendingRemovals = stays;
    const body = current.removalBody(this.traits.type, goes);
    return [{ body, isInOrder: true, news: [] }];
  }

  #withhold(
    answer: PendingResponse,
    current: CurrentView,
    removable: Removable,
    past: ReadonlyMap<string, Past> | undefined,
  ): readonly PendingResponse[] {
    const { pendingRemovals, body } = current.shared.pendingRemovals.withhold(
      answer.body,
      this.#pendingRemovals,
      removable,
      {
        asked: answer.asked,
        past,
      },
    );
    this.#pendingRemovals = pendingRemovals;
    if (body === answer.body) return [answer];
    // The first answer to a wildcard is due even if it is empty (S-RES-14).
    return isEmpty(body) && this.deliveries.lastSent !== undefined ? [] : [{ ...answer, body }];
  }

  /** Whether the client goes on with the former state of something, such as an aggregate Cluster or a scope. */
  get #holdsBack(): boolean {
    return this.sentState.heldBack.resources.size > 0;
  }

  /** `held`: names that were held back, of which the client has a former state, or nothing. */
  #sotw(
    answers: readonly PendingResponse[],
    before: Position | undefined,
    current: CurrentView,
    removable: Removable,
    held: readonly string[],
  ): readonly PendingResponse[] {
    const { type } = this.traits;
    if (before === undefined) {
      for (const { body } of answers) current.noteServed(body, this.#pendingRemovals);
      return answers.map((answer) => this.#withResumed(answer));
    }
    if (answers.length === 0 && this.deliveries.isBlocked) return answers;
    const what = { type, subscription: this.subscription, asked: this.#asked, goesAtOnce: removable.goesAtOnce };
    const step = current.stepRemovals(this.#pendingRemovals, before, what);
    // A resource that exists and is newly subscribed to did not change, and yet the client holds it again.
    const asked = isSameScope(this.#asked, this.subscription.scope)
      ? step.pendingRemovals
      : step.pendingRemovals.without((name) => {
          const now = current.view.holder(type, name);
          return now !== undefined && this.subscription.covers(now);
        });
    const gone = asked.isEmpty ? asked : asked.asSent(held, () => this.#lastSent());
    // Until what may replace it is let go, the machine lists what is gone.
    const isReplaced = this.#isExclusive && (step.hasPuts || this.#holdsBack);
    const { to } = isReplaced ? everythingRemovable : removable;
    const { stays, goes } = current.shared.pendingRemovals.part(gone, to);
    this.#pendingRemovals = stays;
    const [answer] = answers;
    if (held.length > 0 || this.#holdsBack) return answer === undefined ? [] : this.#withHeldBack(answer, current);
    if (answer?.asked === undefined && !step.hasPuts && goes.length === 0) return [];
    const isPlain = stays.isEmpty && answer !== undefined;
    const body = isPlain ? answer.body : current.fullBody(type, this.subscription, stays);
    current.noteServed(body, this.#pendingRemovals);
    return [this.#withResumed(isPlain ? answer : { news: [], ...answer, body, isInOrder: true })];
  }

  /**
   * The answer with what waits to be removed; nothing, if the client holds exactly that. Its version is noted as if nothing
   * were held back: who comes back with it is protected in what it lists (docs/decisions/0174).
   */
  #withHeldBack(answer: PendingResponse, current: CurrentView): readonly PendingResponse[] {
    const stays = this.#pendingRemovals;
    let { body } = answer;
    if (this.#holdsBack) {
      if (!stays.isEmpty) body = this.#withRemovals(body, stays, current.view);
    } else if (!stays.isEmpty) body = current.fullBody(this.traits.type, this.subscription, stays);
    current.noteServed(body, stays);
    if (answer.asked === undefined && this.#isHeld(body, current)) return [];
    return [this.#withResumed({ ...answer, body, isInOrder: true })];
  }

  /** A state in which Clusters are held back, with what waits to be removed. */
  #withRemovals(body: Body, stays: PendingRemovals, view: View): Body {
    const { type } = this.traits;
    const { resources: waiting } = this.sentState.heldBack;
    let sum = stays.sum;
    for (const { puts } of body.segments)
      for (const put of puts) if (waiting.has(put.name)) sum = addSums(sum, put.sum);
    for (const name of waiting.keys()) sum = addSums(sum, view.holder(type, name)?.sum ?? 0n);
    return { ...body, version: view.typeVersionWith(type, sum), segments: [...body.segments, stays.segment] };
  }

  /** Whether the client was sent exactly this last. */
  #isHeld({ segments }: Body, current: CurrentView): boolean {
    const sent = this.#lastSent() ?? new Map<string, Resource>();
    const puts = segments.flatMap((segment) => segment.puts);
    return puts.length === sent.size && puts.every((put) => current.isSame(put, sent.get(put.name)));
  }

  /** What the last response listed; undefined: there was none. */
  #lastSent(): ReadonlyMap<string, Resource> | undefined {
    const sent = this.deliveries.lastSent?.body.segments;
    return sent && new Map(sent.flatMap(({ puts }) => puts.map((put) => [put.name, put] as const)));
  }

  #withResumed(answer: PendingResponse): PendingResponse {
    const resumed = this.#resumed;
    this.#resumed = undefined;
    return resumed === undefined ? answer : { ...answer, ...resumed };
  }
}

const nothing: ReadonlySet<string> = new Set();
const noNames: readonly string[] = [];

function removes({ body }: PendingResponse): boolean {
  return body.segments.some(({ removed }) => removed.length > 0);
}

function removedIn({ body }: PendingResponse): readonly string[] {
  return body.segments.flatMap(({ removed }) => removed);
}

function isEmpty(body: PendingResponse["body"]): boolean {
  return body.segments.every(({ puts, removed, missing }) => puts.length + removed.length + missing.length === 0);
}
