import type { Resource } from "../../resource/resource.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { Subscription } from "../subscription/subscription.ts";
import type { HeldBackNames } from "./held-back.ts";
import type { SentState } from "./sent-state.ts";

/** Whether a Cluster in use waits for the resource of a name. */
type IsAwaited = (name: string) => boolean;

/** The terms of one State of the World client that are answered whatever its position, and their answers. */
export class SotwTerms {
  readonly #traits: TypeTraits;
  readonly #subscription: Subscription;
  readonly #sentState: SentState;
  /**
   * Names whose last state sent was a placeholder: another placeholder may follow, because the client loses nothing by
   * it.
   */
  readonly #placeheld = new Set<string>();

  constructor(traits: TypeTraits, subscription: Subscription, sentState: SentState) {
    this.#traits = traits;
    this.#subscription = subscription;
    this.#sentState = sentState;
  }

  /** The resources that a term matches, without those that are no longer subscribed to. */
  find(view: View, term: string): readonly Resource[] {
    return view.answersTo(this.#traits.type, term).filter((found) => this.#subscription.covers(found));
  }

  /** The resources of the pending terms, with the placeholders of those that have none. */
  findPending(current: CurrentView, isAwaited: IsAwaited): readonly Resource[] {
    const missing: string[] = [];
    const found = [...this.#sentState.pendingNames.keys()].flatMap((term) => {
      const answers = this.find(current.view, term);
      if (answers.length === 0) missing.push(term);
      this.notePut(answers);
      return answers;
    });
    return [...found, ...this.placeholders(missing, current, isAwaited)];
  }

  /** What exists by now of the terms that had no resource when they were requested. */
  findUnanswered(view: View): readonly Resource[] {
    return [...this.#sentState.unansweredNames].flatMap((term) => this.find(view, term));
  }

  /**
   * The placeholders of names without a resource, for a client that held nothing for them before. A Cluster in use that
   * waits for one of them keeps its hosts until there is the resource, or the client waits no longer (S-ORD-01).
   */
  placeholders(missing: readonly string[], current: CurrentView, isAwaited: IsAwaited): readonly Resource[] {
    const placeholders: Resource[] = [];
    for (const name of missing) {
      const placeholder = current.placeholder(this.#traits, name);
      if (placeholder === undefined) continue;
      const isFirst = this.#sentState.pendingNames.get(name) === true && !isAwaited(name);
      if (isFirst || this.#placeheld.has(name)) placeholders.push(placeholder);
    }
    for (const { name } of placeholders) this.#placeheld.add(name);
    return placeholders;
  }

  /** These resources are sent, and are no placeholders. */
  notePut(puts: readonly Resource[]): void {
    if (this.#placeheld.size > 0) for (const { name } of puts) this.#placeheld.delete(name);
  }

  /** The requested terms whose resources are held back: they are answered once these are let go. */
  heldBack(heldBack: HeldBackNames, view: View): readonly string[] {
    if (heldBack.size === 0) return [];
    const isUntold = ({ name }: Resource): boolean => heldBack.has(name) && heldBack.get(name) === undefined;
    return [...this.#sentState.pendingNames.keys(), ...this.#sentState.unansweredNames].filter((term) =>
      this.find(view, term).some(isUntold),
    );
  }
}
