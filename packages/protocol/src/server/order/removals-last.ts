import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import type { Variant } from "../../message/variant.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { Position } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import type { Deliveries } from "../ack/delivery.ts";
import { type HeldOverSet, nothingHeldOver, type Removable } from "../cache/held-over.ts";
import type { Present } from "../cache/present.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import { coversName, type Scope, type Subscription } from "../subscription/subscription.ts";
import type { Told } from "../type/told.ts";
import type { Answer, RemovedLast, TurnBounds, TypeStream, Understood } from "../type/type-stream.ts";

/**
 * Clusters on one stream, of which those that are gone are removed last: until then delta is not told, and State of the
 * World goes on listing them (S-ORD-05). The same of their endpoints in delta; State of the World cannot say that those are gone.
 * Everything else is as the machine inside says.
 */
export class RemovalsLast implements TypeStream, RemovedLast {
  readonly #variant: Variant;
  readonly #machine: TypeStream;
  #heldOver = nothingHeldOver;
  /** What was asked for when the client was last told. */
  #asked: Scope;
  /** The version that a client of State of the World came back with, until it is looked up. */
  #reported: string | undefined;
  /** What the first answer brings such a client. */
  #newcomers: Answer["newcomers"];

  /** Whether resources of a type are removed last. */
  static isFor({ kind }: TypeTraits, variant: Variant): boolean {
    return kind === "cds" || (kind === "eds" && variant === "delta");
  }

  constructor(variant: Variant, machine: TypeStream) {
    this.#variant = variant;
    this.#machine = machine;
    this.#asked = machine.subscription.scope;
  }

  get areClusters(): boolean {
    return this.traits.kind === "cds";
  }

  get removedLast(): RemovedLast {
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

  get told(): Told {
    return this.#machine.told;
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

  get isPaused(): boolean {
    return this.#machine.isPaused;
  }

  get heldOver(): HeldOverSet {
    return this.#heldOver;
  }

  get unreleased(): string | undefined {
    if (!this.#namesEach() || this.deliveries.isBlocked) return undefined;
    const [name] = this.#heldOver.names.keys();
    return name;
  }

  /** What the client does not ask for any more it has dropped itself. */
  onRequest(request: DiscoveryRequest): Understood {
    const before = this.subscription.scope;
    const understood = this.#machine.onRequest(request);
    if (request.kind === "sotw" && understood.as === "initial") this.#reported = request.versionInfo;
    this.#forgetDropped(before);
    return understood;
  }

  /** Of what is gone nobody may know the aliases: asked for by none of its names, it was asked for by one of them. */
  #forgetDropped(before: Scope): void {
    const { subscription } = this;
    if (this.#heldOver.isEmpty || subscription.isWildcard) return;
    const isDropped = (name: string): boolean =>
      !subscription.isNamed(name) && (subscription.names.size === 0 || coversName(before, name));
    this.#heldOver = this.#heldOver.without(isDropped);
  }

  owe(names: Iterable<string>): boolean {
    return this.#machine.owe(names);
  }

  hasNews(view: View): boolean {
    return this.#machine.hasNews(view);
  }

  catchUp(revision: number): void {
    this.#machine.catchUp(revision);
  }

  isTold(name: string, view: View, present: Present): boolean {
    return this.#machine.isTold(name, view, present);
  }

  upcoming(view: View, present: Present): Iterable<Upcoming> {
    return this.#machine.upcoming(view, present);
  }

  isWaiting(view: View): boolean {
    return this.#machine.isWaiting(view) || (!this.#heldOver.isEmpty && this.deliveries.isBlocked);
  }

  get canHoldBack(): boolean {
    return false;
  }

  get canTellTargets(): boolean {
    return false;
  }

  get heldBackFrom(): number {
    return Number.POSITIVE_INFINITY;
  }

  next(view: View, present: Present, bounds: TurnBounds): readonly Answer[] {
    if (this.#reported !== undefined) this.#takeUp(this.#reported, view, present);
    const before = this.position;
    const answers = this.#machine.next(view, present, bounds);
    if (before !== undefined && this.position !== before) {
      this.#heldOver = present.heldOver.carryOver(this.#heldOver, before, view, this.traits.type);
    }
    // The usual turn of a stream, which should cost nothing.
    if (this.#variant === "delta" && this.#heldOver.isEmpty && !answers.some(removes)) return answers;
    const removable = this.#removable(bounds.removable, view);
    const told =
      this.#variant === "delta"
        ? this.#delta(answers, before, view, present, removable)
        : this.#sotw(answers, before, view, present, removable);
    if (this.#variant === "sotw" && this.position !== before) this.#asked = this.subscription.scope;
    return told;
  }

  #removable(removable: Removable, view: View): Removable {
    if (!this.areClusters) return { ...removable, goesAtOnce: undefined };
    return this.#namesEach() ? this.#releasable(removable, view) : removable;
  }

  /**
   * What it does not name any more, it has dropped itself; what it names it gives up when nothing sends it there any more.
   * Where something still does, nobody waits for that.
   */
  #releasable({ to, namedTo, goesAtOnce }: Removable, view: View): Removable {
    const { type } = this.traits;
    const isNotGivenUp = (name: string): boolean => goesAtOnce?.(name) === true || view.refersTo(type, name);
    return { to: Math.min(to, namedTo), namedTo, goesAtOnce: isNotGivenUp };
  }

  /** The client asks for each Cluster by its name, and gives up each that it does not use any more, as gRPC does. */
  #namesEach(): boolean {
    if (!this.areClusters) return false;
    const { isWildcard, names, speaksOfParameters } = this.subscription;
    return !isWildcard && !speaksOfParameters && !names.hasCollections;
  }

  /** Finds out what a client holds that came back with a version. */
  #takeUp(version: string, view: View, present: Present): void {
    this.#reported = undefined;
    const { type } = this.traits;
    if (version === view.typeVersion(type)) return;
    const served = present.served.find(type, version, view);
    if (served === undefined) this.#newcomers = "unknown";
    else {
      const { subscription } = this;
      this.#heldOver = present.heldOver.resume(served.heldOver);
      if (!subscription.isWildcard) this.#heldOver = this.#heldOver.without((name) => !subscription.isNamed(name));
      this.#asked = this.subscription.scope;
      const newcomers = [...present.changes.newcomers(served.position, view, type)];
      this.#newcomers = new Set(newcomers.filter((name) => !served.heldOver.names.has(name)));
      this.#machine.standAt?.(served.position);
    }
  }

  #delta(
    answers: readonly Answer[],
    before: Position | undefined,
    view: View,
    present: Present,
    removable: Removable,
  ): readonly Answer[] {
    const past = before && present.changes.timedPast(before, view, this.traits.type);
    const told =
      answers.length === 0 ? answers : answers.flatMap((answer) => this.#withhold(answer, present, removable, past));
    if (told.length > 0 || this.isPaused || this.deliveries.isBlocked) return told;
    const { stays, goes } = present.heldOver.part(this.#heldOver, removable.to);
    if (goes.length === 0) return [];
    this.#heldOver = stays;
    const body = present.bodies.removals(view, this.traits.type, goes);
    return [{ body, isInTurn: true, news: [] }];
  }

  #withhold(
    answer: Answer,
    present: Present,
    removable: Removable,
    past: ReadonlyMap<string, Past> | undefined,
  ): readonly Answer[] {
    const { heldOver, body } = present.heldOver.withhold(answer.body, this.#heldOver, removable, {
      asked: answer.asked,
      past,
    });
    this.#heldOver = heldOver;
    if (body === answer.body) return [answer];
    // Of a wildcard the first answer is owed even when there is nothing in it (S-RES-14).
    return isEmpty(body) && this.deliveries.lastSent !== undefined ? [] : [{ ...answer, body }];
  }

  #sotw(
    answers: readonly Answer[],
    before: Position | undefined,
    view: View,
    present: Present,
    removable: Removable,
  ): readonly Answer[] {
    const { type } = this.traits;
    if (before === undefined) {
      for (const { body } of answers) this.#note(body, view, present);
      return answers.map((answer) => this.#withNewcomers(answer));
    }
    if (answers.length === 0 && this.deliveries.isBlocked) return answers;
    const what = { type, subscription: this.subscription, asked: this.#asked, goesAtOnce: removable.goesAtOnce };
    const step = present.heldOver.step(this.#heldOver, before, view, what);
    // What is there and was not asked for until now did not come back, but the client has it again all the same.
    const gone = step.heldOver.without((name) => {
      const now = view.holder(type, name);
      return now !== undefined && this.subscription.covers(now);
    });
    const { stays, goes } = present.heldOver.part(gone, removable.to);
    this.#heldOver = stays;
    const [answer] = answers;
    if (answer?.asked === undefined && !step.hasPuts && goes.length === 0) return [];
    const isPlain = stays.isEmpty && answer !== undefined;
    const body = isPlain ? answer.body : present.bodies.full(view, type, this.subscription, stays);
    this.#note(body, view, present);
    return [this.#withNewcomers(isPlain ? answer : { news: [], ...answer, body, isInTurn: true })];
  }

  #withNewcomers(answer: Answer): Answer {
    const newcomers = this.#newcomers;
    this.#newcomers = undefined;
    return newcomers === undefined ? answer : { ...answer, newcomers };
  }

  /** Who comes back with this version holds this. */
  #note({ type, version }: Answer["body"], view: View, { served, revision }: Present): void {
    served.note({ type, version, position: { view, revision }, heldOver: this.#heldOver });
  }
}

function removes({ body }: Answer): boolean {
  return body.segments.some(({ removed }) => removed.length > 0);
}

function isEmpty(body: Answer["body"]): boolean {
  return body.segments.every(({ puts, removed, missing }) => puts.length + removed.length + missing.length === 0);
}
