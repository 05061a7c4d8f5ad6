import type { SentMark } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import type { Subscription } from "../subscription/subscription.ts";
import { HeldBack, type HeldBackNames } from "./held-back.ts";
import type { ReadonlySentState } from "./readonly-sent-state.ts";

/** Where a client stands with a type: how far it was told, and what it is to be told whatever its position. */
export class SentState implements ReadonlySentState {
  readonly type: TypeUrl;
  /** The client was told up to here; undefined before the first answer. */
  sentUpTo: Position | undefined;
  /** Everything is owed once more, whatever it was told. */
  resendsAll = false;
  #asked = new Map<string, boolean>();
  readonly sentOutOfOrder: Map<string, SentMark | undefined> = new Map();
  readonly unansweredNames: Set<string> = new Set();
  readonly heldBack: HeldBack = new HeldBack();
  readonly #subscription: Subscription;

  constructor(type: TypeUrl, subscription: Subscription) {
    this.type = type;
    this.#subscription = subscription;
  }

  get pendingNames(): ReadonlyMap<string, boolean> {
    return this.#asked;
  }

  get position(): Position | undefined {
    return this.resendsAll ? undefined : this.sentUpTo;
  }

  /** Nothing is to be told but what changed since the position. */
  get isPlain(): boolean {
    return this.#asked.size + this.sentOutOfOrder.size + this.unansweredNames.size === 0;
  }

  /** The revision before the oldest resource that is held back. Infinite: none is. */
  get heldBackFrom(): number {
    // What is held back is among these; what the client gave up meanwhile is not held back any more.
    return this.isPlain ? Number.POSITIVE_INFINITY : this.heldBack.from;
  }

  /** A term is to be answered. `isNew`: the client had nothing of it before, so that it may be given a placeholder. */
  ask(term: string, isNew = false): void {
    if (isNew || !this.#asked.has(term)) this.#asked.set(term, isNew);
  }

  /** A term was given up. */
  giveUp(term: string): void {
    this.#asked.delete(term);
    this.unansweredNames.delete(term);
  }

  /** What was asked for was answered. What it was stays as it is, for whoever holds it. */
  clearAsked(): void {
    if (this.#asked.size > 0) this.#asked = new Map();
  }

  /** Asks for names on the client's behalf, whatever their version. Returns whether any is subscribed to. */
  resend(names: Iterable<string>, isLeftToTerms: (name: string) => boolean = () => false): boolean {
    let isAny = false;
    for (const name of names) {
      const named = this.#subscription.termsNamed(name);
      if (!isLeftToTerms(name) && !this.#subscription.isWildcard && named.length === 0) continue;
      for (const term of named.length === 0 ? [name] : named) this.ask(term);
      isAny = true;
    }
    return isAny;
  }

  /** There may be something that the client has to hear. */
  hasNews(view: View): boolean {
    return this.position === undefined || !this.isPlain || !isStill(this.position, view, this.type);
  }

  /** Whether the client was told of a name as it stands now. */
  isTold(name: string, view: View, responses: SharedResponses): boolean {
    const { position } = this;
    if (position === undefined || this.pendingNames.has(name)) return false;
    if (this.unansweredNames.has(name)) return view.holder(this.type, name) === undefined;
    if (this.sentOutOfOrder.has(name))
      return responses.isSame(this.sentOutOfOrder.get(name), view.holder(this.type, name));
    return !responses.changes.names(position, view, this.type).has(name);
  }

  /** What the client is about to be told. */
  *upcoming(view: View, responses: SharedResponses): Iterable<Upcoming> {
    for (const upcoming of responses.selections.upcoming(this.position, view, this.type, this.#subscription)) {
      // What it would take the place of is not what lies at the position.
      if (!this.heldBack.has(upcoming.resource.name)) yield upcoming;
    }
    for (const term of [...this.pendingNames.keys(), ...this.sentOutOfOrder.keys(), ...this.unansweredNames]) {
      for (const resource of view.answersTo(this.type, term)) {
        yield { resource, replaces: this.heldBack.replacedBy(resource.name) };
      }
    }
  }

  /** Holds these back, and nothing else. Returns what the client was told of those that changed. */
  holdBack(names: HeldBackNames, view: View, responses: SharedResponses): ReadonlyMap<string, SentMark | undefined> {
    return this.heldBack.hold(names, this, view, responses, this.#subscription);
  }

  /** Nothing that the client asks for changed up to this revision. */
  catchUp(revision: number): void {
    if (this.sentUpTo !== undefined) this.sentUpTo = { view: this.sentUpTo.view, revision };
  }

  /** The client is told up to there, and nothing else is to be told. */
  advance(to: Position): void {
    this.sentUpTo = to;
    this.resendsAll = false;
    this.clearAsked();
    this.sentOutOfOrder.clear();
    this.unansweredNames.clear();
  }
}
