import type { DiscoveryRequest } from "../message/request.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { Position } from "../state/difference.ts";
import type { View } from "../state/view.ts";
import type { Deliveries } from "./delivery.ts";
import type { Variant } from "./event.ts";
import { type HeldOverSet, nothingHeldOver, type Removable } from "./held-over.ts";
import type { Present, Upcoming } from "./present.ts";
import type { Scope, Subscription } from "./subscription.ts";
import type { Answer, TypeStream, Understood } from "./type-stream.ts";

/**
 * Clusters on one stream, of which those that are gone are removed last: until then delta is not told, and State of the
 * World goes on listing them (S-ORD-05). Everything else is as the machine inside says.
 */
export class RemovalsLast implements TypeStream {
  readonly #variant: Variant;
  readonly #machine: TypeStream;
  #heldOver = nothingHeldOver;
  /** What was asked for when the client was last told. */
  #asked: Scope;

  constructor(variant: Variant, machine: TypeStream) {
    this.#variant = variant;
    this.#machine = machine;
    this.#asked = machine.subscription.scope;
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

  get position(): Position | undefined {
    return this.#machine.position;
  }

  get isPaused(): boolean {
    return this.#machine.isPaused;
  }

  get heldOver(): HeldOverSet {
    return this.#heldOver;
  }

  /** What the client does not ask for any more it has dropped itself. */
  onRequest(request: DiscoveryRequest): Understood {
    const understood = this.#machine.onRequest(request);
    const { isWildcard, names } = this.subscription;
    if (!isWildcard) this.#heldOver = this.#heldOver.without((name) => !names.has(name));
    return understood;
  }

  owe(names: Iterable<string>): boolean {
    return this.#machine.owe(names);
  }

  hasNews(view: View): boolean {
    return this.#machine.hasNews(view);
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

  next(view: View, present: Present, removable: Removable): readonly Answer[] {
    const before = this.position;
    const answers = this.#machine.next(view, present, removable);
    if (before !== undefined && this.position !== before) {
      this.#heldOver = present.carryOver(this.#heldOver, before, view, this.traits.type);
    }
    const told =
      this.#variant === "delta"
        ? this.#delta(answers, view, present, removable)
        : this.#sotw(answers, before, view, present, removable);
    if (this.#variant === "sotw" && this.position !== before) this.#asked = this.subscription.scope;
    return told;
  }

  #delta(answers: readonly Answer[], view: View, present: Present, removable: Removable): readonly Answer[] {
    const told =
      answers.length === 0 ? answers : answers.flatMap((answer) => this.#withhold(answer, present, removable));
    if (told.length > 0 || this.isPaused || this.deliveries.isBlocked) return told;
    const { stays, goes } = present.part(this.#heldOver, removable.to);
    if (goes.length === 0) return [];
    this.#heldOver = stays;
    const body = present.removalBody(view, this.traits.type, goes);
    return [{ body, isInTurn: true, news: [] }];
  }

  #withhold(answer: Answer, present: Present, removable: Removable): readonly Answer[] {
    const { heldOver, body } = present.withhold(answer.body, this.#heldOver, removable, answer.asked);
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
    if (before === undefined || (answers.length === 0 && this.deliveries.isBlocked)) return answers;
    const { type } = this.traits;
    const what = { type, subscription: this.subscription, asked: this.#asked, isUnused: removable.isUnused };
    const step = present.step(this.#heldOver, before, view, what);
    // What is there and was not asked for until now did not come back, but the client has it again all the same.
    const gone = step.heldOver.without((name) => {
      const now = view.holder(type, name);
      return now !== undefined && this.subscription.covers(now);
    });
    const { stays, goes } = present.part(gone, removable.to);
    this.#heldOver = stays;
    const [answer] = answers;
    if (answer?.asked === undefined && !step.hasPuts && goes.length === 0) return [];
    if (stays.isEmpty && answer !== undefined) return answers;
    const body = present.fullBody(view, type, this.subscription, stays);
    return [{ news: [], ...answer, body, isInTurn: true }];
  }
}

function isEmpty(body: Answer["body"]): boolean {
  return body.segments.every(({ puts, removed, missing }) => puts.length + removed.length + missing.length === 0);
}
