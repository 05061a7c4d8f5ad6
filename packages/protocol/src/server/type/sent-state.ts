import { markOf, type SentMark } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import { LazyMap, LazySet } from "../memory/lazy.ts";
import type { NameList } from "../subscription/names.ts";
import type { Subscription } from "../subscription/subscription.ts";
import { HeldBack, type HeldBackNames } from "./held-back.ts";
import { type PendingNameList, PendingNames } from "./pending-names.ts";
import type { ReadonlySentState } from "./readonly-sent-state.ts";

/** What a client was sent of a type: up to which position, and which terms are to be sent whatever the position. */
export class SentState implements ReadonlySentState {
  readonly type: TypeUrl;
  /** The position up to which the client was sent changes; undefined before the first response. */
  sentUpTo: Position | undefined;
  /** Everything is to be resent, whatever the client was sent. */
  resendsAll = false;
  #asked = new PendingNames();
  readonly sentOutOfOrder: LazyMap<string, SentMark | undefined> = new LazyMap();
  readonly unansweredNames: LazySet<string> = new LazySet();
  readonly heldBack: HeldBack = new HeldBack();
  readonly #subscription: Subscription;

  constructor(type: TypeUrl, subscription: Subscription) {
    this.type = type;
    this.#subscription = subscription;
  }

  get pendingNames(): PendingNameList {
    return this.#asked;
  }

  get position(): Position | undefined {
    return this.resendsAll ? undefined : this.sentUpTo;
  }

  get isPlain(): boolean {
    return this.#asked.size + this.sentOutOfOrder.size + this.unansweredNames.size === 0;
  }

  /** The revision before the oldest resource that is held back. Infinite: none is. */
  get heldBackFrom(): number {
    // Names held back are in these collections; a name in none of them was unsubscribed meanwhile.
    return this.isPlain ? Number.POSITIVE_INFINITY : this.heldBack.from;
  }

  /** Marks a term as pending. `isNew`: the client held nothing for it before, so it may be sent a placeholder. */
  ask(term: string, isNew = false): void {
    this.#asked.add(term, isNew);
  }

  /** Marks all of these terms, which must not change afterwards. */
  askAll(terms: NameList, areNew: boolean): void {
    this.#asked.addAll(terms, areNew);
  }

  /** The client unsubscribed from a term. */
  giveUp(term: string): void {
    this.#asked.delete(term);
    this.unansweredNames.delete(term);
  }

  /** Clears the pending terms, with a new list: bodies and answers may still refer to the old one. */
  clearAsked(): void {
    if (this.#asked.size > 0) this.#asked = new PendingNames();
  }

  /** The pending terms are answered out of order; one without a resource is answered again once there is one. */
  answerPending(hasResource: (term: string) => boolean): void {
    for (const term of this.#asked.keys()) {
      if (hasResource(term)) this.unansweredNames.delete(term);
      else this.unansweredNames.add(term);
    }
    this.clearAsked();
  }

  /** The client was sent the current state of a name out of order. */
  noteOutOfOrder(name: string, { view, ttls }: CurrentView): void {
    const now = view.holder(this.type, name);
    this.sentOutOfOrder.set(name, now && markOf(now, ttls));
  }

  /**
   * Marks those of the names that are subscribed to as pending, whatever their version. Returns whether there are any.
   * `isLeftToTerms`: a test for names that are marked in any case.
   */
  resend(names: ReadonlySet<string>, isLeftToTerms?: (name: string) => boolean): boolean {
    const { asksBroadly, names: own } = this.#subscription;
    if (!asksBroadly && isLeftToTerms === undefined && own.size < names.size) return this.#resendOwn(names);
    let isAny = false;
    for (const name of names) {
      const named = this.#subscription.termsNamed(name);
      if (isLeftToTerms?.(name) !== true && !this.#subscription.isWildcard && named.length === 0) continue;
      for (const term of named.length === 0 ? [name] : named) this.ask(term);
      isAny = true;
    }
    return isAny;
  }

  /** The same for a client that asks for fewer names than are to be resent. */
  #resendOwn(names: ReadonlySet<string>): boolean {
    let isAny = false;
    for (const name of this.#subscription.names) {
      if (!names.has(name)) continue;
      this.ask(name);
      isAny = true;
    }
    return isAny;
  }

  /** Whether there may be something to send. */
  hasNews(view: View): boolean {
    return this.position === undefined || !this.isPlain || !isStill(this.position, view, this.type);
  }

  /** Whether the client was sent the current state of a name. */
  isSent(name: string, current: CurrentView): boolean {
    const { position } = this;
    if (position === undefined || this.pendingNames.has(name)) return false;
    if (this.unansweredNames.has(name)) return current.view.holder(this.type, name) === undefined;
    if (this.sentOutOfOrder.has(name))
      return current.isSame(this.sentOutOfOrder.get(name), current.view.holder(this.type, name));
    return !current.namesSince(position, this.type).has(name);
  }

  /** Whether something that the client was sent is deleted. */
  removesAny(current: CurrentView): boolean {
    const { position } = this;
    return position !== undefined && current.selectSince(position, this.type, this.#subscription).removed.length > 0;
  }

  /** What the client is about to be sent. */
  *pendingResources(current: CurrentView): Iterable<PendingResource> {
    for (const upcoming of current.pendingResources(this.position, this.type, this.#subscription)) {
      const { resource } = upcoming;
      // What it replaces is not what was there at the position.
      const isHeldBack = this.heldBack.has(resource.name);
      yield isHeldBack ? { resource, replaces: this.heldBack.replacedBy(resource.name) } : upcoming;
    }
    for (const term of [...this.pendingNames.keys(), ...this.sentOutOfOrder.keys(), ...this.unansweredNames]) {
      for (const resource of current.view.answersTo(this.type, term)) {
        yield { resource, replaces: this.heldBack.replacedBy(resource.name) };
      }
    }
  }

  /** Whether there is nothing to send but what these names hold back, as in the last flush. */
  holdsOnly(names: HeldBackNames, view: View): boolean {
    const { position, sentOutOfOrder, heldBack } = this;
    if (position === undefined || this.#asked.size + this.unansweredNames.size > 0) return false;
    if (sentOutOfOrder.size !== names.size || heldBack.resources.size !== names.size) return false;
    for (const [name, target] of names)
      if (target !== undefined || !heldBack.has(name) || !sentOutOfOrder.has(name)) return false;
    return isStill(position, view, this.type);
  }

  /** The client dropped what it was sent of a name. */
  forget(name: string): void {
    this.sentOutOfOrder.delete(name);
    this.heldBack.forget(name);
  }

  /** Holds back these names, and no others. Returns the last state that the client was sent of those that changed. */
  holdBack(names: HeldBackNames, current: CurrentView): ReadonlyMap<string, SentMark | undefined> {
    return this.heldBack.hold(names, this, current, this.#subscription);
  }

  /** Advances the position to a revision up to which nothing changed that the client subscribes to. */
  catchUp(revision: number): void {
    const at = this.sentUpTo;
    if (at !== undefined && at.revision !== revision) this.sentUpTo = { view: at.view, revision };
  }

  /** Sets the position; nothing else is left to send. */
  advance(to: Position): void {
    this.sentUpTo = to;
    this.resendsAll = false;
    if (this.isPlain) return; // to clear an empty collection costs as much as to make one
    this.clearAsked();
    this.sentOutOfOrder.clear();
    this.unansweredNames.clear();
  }
}
