import type { Mark } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { Present } from "../cache/present.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import type { Subscription } from "../subscription/subscription.ts";
import { HeldBack, type HeldNames } from "./held-back.ts";
import type { Told } from "./told.ts";

/** Where a client stands with a type: how far it was told, and what it is to be told whatever its position. */
export class Standing implements Told {
  readonly type: TypeUrl;
  /** The client was told up to here; undefined before the first answer. */
  at: Position | undefined;
  /** Everything is owed once more, whatever it was told. */
  owesAll = false;
  #asked = new Map<string, boolean>();
  readonly ahead: Map<string, Mark | undefined> = new Map();
  readonly vain: Set<string> = new Set();
  readonly heldBack: HeldBack = new HeldBack();
  readonly #subscription: Subscription;

  constructor(type: TypeUrl, subscription: Subscription) {
    this.type = type;
    this.#subscription = subscription;
  }

  get asked(): ReadonlyMap<string, boolean> {
    return this.#asked;
  }

  get position(): Position | undefined {
    return this.owesAll ? undefined : this.at;
  }

  /** Nothing is to be told but what changed since the position. */
  get isPlain(): boolean {
    return this.#asked.size + this.ahead.size + this.vain.size === 0;
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
    this.vain.delete(term);
  }

  /** What was asked for was answered. What it was stays as it is, for whoever holds it. */
  clearAsked(): void {
    if (this.#asked.size > 0) this.#asked = new Map();
  }

  /** Asks for names on the client's behalf, whatever their version. Returns whether any is subscribed to. */
  owe(names: Iterable<string>, isLeftToTerms: (name: string) => boolean = () => false): boolean {
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
  isTold(name: string, view: View, present: Present): boolean {
    const { position } = this;
    if (position === undefined || this.asked.has(name)) return false;
    if (this.vain.has(name)) return view.holder(this.type, name) === undefined;
    if (this.ahead.has(name)) return present.isSame(this.ahead.get(name), view.holder(this.type, name));
    return !present.changes.names(position, view, this.type).has(name);
  }

  /** What the client is about to be told. */
  *upcoming(view: View, present: Present): Iterable<Upcoming> {
    for (const upcoming of present.selections.upcoming(this.position, view, this.type, this.#subscription)) {
      // What it would take the place of is not what lies at the position.
      if (!this.heldBack.has(upcoming.resource.name)) yield upcoming;
    }
    for (const term of [...this.asked.keys(), ...this.ahead.keys(), ...this.vain]) {
      for (const resource of view.answersTo(this.type, term)) {
        yield { resource, replaces: this.heldBack.replacedBy(resource.name) };
      }
    }
  }

  /** Holds these back, and nothing else. Returns what the client was told of those that changed. */
  holdBack(names: HeldNames, view: View, present: Present): ReadonlyMap<string, Mark | undefined> {
    return this.heldBack.hold(names, this, view, present, this.#subscription);
  }

  /** Nothing that the client asks for changed up to this revision. */
  catchUp(revision: number): void {
    if (this.at !== undefined) this.at = { view: this.at.view, revision };
  }

  /** The client is told up to there, and nothing else is to be told. */
  advance(to: Position): void {
    this.at = to;
    this.owesAll = false;
    this.clearAsked();
    this.ahead.clear();
    this.vain.clear();
  }
}
