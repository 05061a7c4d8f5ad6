import type { Resource } from "../../resource/resource.ts";
import { isSame, type Ttls } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isLocatedWildcard } from "../../resource/variant-name.ts";
import type { Change } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import { covers, type Scope, type Subscription } from "./subscription.ts";

/** The part of a difference, or of a whole view, that a subscription covers. */
export interface Selection {
  readonly puts: readonly Resource[];
  /** Of a difference: names that were covered and are not any more. Of a whole view: terms without a resource. */
  readonly removed: readonly string[];
}

/** Selects everything of a view that a subscription covers. */
export function selectWhole(view: View, type: TypeUrl, subscription: Subscription): Selection {
  const puts = new Map<string, Resource>();
  if (subscription.isWildcard) {
    for (const resource of view.members(type)) if (!resource.onDemand) puts.set(resource.name, resource);
  }
  const removed: string[] = [];
  for (const term of subscription.names) {
    const found = view.answersTo(type, term);
    if (found.length === 0 && !isLocatedWildcard(term)) removed.push(term);
    for (const resource of found) puts.set(resource.name, resource);
  }
  return { puts: [...puts.values()], removed };
}

/** Selects the part of some changes that a subscription covers. `view`: the state after them. */
export function selectFrom(
  changes: readonly Change[],
  view: View,
  subscription: Subscription,
  { type, ttls }: { readonly type: TypeUrl; readonly ttls: Ttls },
): Selection {
  if (subscription.terms !== undefined && subscription.names.size > 0 && !subscription.speaksOfParameters) {
    return new AnswerChanges(changes, view, subscription, { type, ttls }).selection;
  }
  const puts: Resource[] = [];
  const removed: string[] = [];
  for (const { name, then, now } of changes) {
    const wasCovered = then !== undefined && subscription.covers(then);
    if (now !== undefined && subscription.covers(now)) {
      if (!(wasCovered && isSame(then, now, ttls))) puts.push(now);
    } else if (wasCovered) removed.push(name);
  }
  return { puts, removed };
}

/**
 * The changes for terms that each match the best of several resources. An unchanged resource is sent when a better one
 * is deleted, and is removed for the client when a better one is added (S-VHD-03). Only the terms that a changed
 * resource matches or matched are examined.
 */
class AnswerChanges {
  readonly selection: Selection;
  readonly #view: View;
  readonly #type: TypeUrl;
  readonly #subscription: Subscription;
  readonly #changes: ReadonlyMap<string, Change>;
  /** The former states of changed resources, by name and alias. */
  readonly #before = new Map<string, Past>();

  constructor(
    changes: readonly Change[],
    view: View,
    subscription: Subscription,
    { type, ttls }: { readonly type: TypeUrl; readonly ttls: Ttls },
  ) {
    this.#view = view;
    this.#type = type;
    this.#subscription = subscription;
    this.#changes = new Map(changes.map((change) => [change.name, change]));
    for (const { then } of changes) {
      for (const alias of then?.aliases ?? []) this.#before.set(alias, then as Past);
    }
    for (const { name, then } of changes) if (then !== undefined) this.#before.set(name, then);
    const puts: Resource[] = [];
    const removed: string[] = [];
    const { names, newAnswers } = this.#candidates();
    for (const name of names) {
      const then = this.#changes.has(name) ? this.#changes.get(name)?.then : view.holder(type, name);
      const now = view.holder(type, name);
      const wasHeld = then !== undefined && this.#isHeld(then, (term) => this.#answerBefore(term)?.name);
      if (now !== undefined && this.#isHeld(now, (term) => view.find(type, term)?.name)) {
        if (!(wasHeld && isSame(then, now, ttls)) || newAnswers.has(name)) puts.push(now);
      } else if (wasHeld) removed.push(name);
    }
    this.selection = { puts, removed };
  }

  /**
   * `names`: changed resources, and the present and former matches of the affected terms. `newAnswers`: matches that
   * are new for their term.
   */
  #candidates(): { readonly names: ReadonlySet<string>; readonly newAnswers: ReadonlySet<string> } {
    const names = new Set(this.#changes.keys());
    const newAnswers = new Set<string>();
    for (const term of this.#concerned()) {
      const before = this.#answerBefore(term);
      const now = this.#view.find(this.#type, term);
      if (before !== undefined) names.add(before.name);
      if (now === undefined) continue;
      names.add(now.name);
      // A client that waits for this term does not connect it with what was sent for another one.
      if (now.name !== before?.name) newAnswers.add(now.name);
    }
    return { names, newAnswers };
  }

  #concerned(): ReadonlySet<string> {
    const { names } = this.#subscription;
    const terms = new Set<string>();
    for (const { then, now } of this.#changes.values()) {
      for (const one of [then, now]) {
        if (one === undefined) continue;
        for (const called of [one.name, ...one.aliases]) if (names.has(called)) terms.add(called);
        for (const term of this.#subscription.termsFor(one)) terms.add(term);
      }
    }
    return terms;
  }

  #isHeld(one: Past, answerTo: (term: string) => string | undefined): boolean {
    if (covers(this.#subscription, one)) return true;
    for (const term of this.#subscription.termsFor(one)) if (answerTo(term) === one.name) return true;
    return false;
  }

  #answerBefore(term: string): Past | undefined {
    const called = this.#calledBefore(term);
    if (called !== undefined) return called;
    for (const alias of this.#subscription.terms?.broader(term) ?? []) {
      const broader = this.#calledBefore(alias);
      if (broader !== undefined) return broader;
    }
    return undefined;
  }

  #calledBefore(alias: string): Past | undefined {
    const before = this.#before.get(alias);
    if (before !== undefined) return before;
    const now = this.#view.called(this.#type, alias);
    return now === undefined || this.#changes.has(now.name) ? undefined : now;
  }
}

/** Whether a resource of the view is the match of some term of the subscription, or covered by its wildcard. */
export function isAsked(resource: Resource, view: View, scope: Scope): boolean {
  if (covers(scope, resource)) return true;
  for (const term of scope.termsFor(resource)) {
    if (view.find(resource.type, term)?.name === resource.name) return true;
  }
  return false;
}

/** The terms, other than its name and aliases, that this resource matches best; sorted. */
export function answeredTerms(
  resource: Resource,
  view: View,
  type: TypeUrl,
  subscription: Subscription,
): readonly string[] {
  const terms: string[] = [];
  for (const term of subscription.termsFor(resource)) {
    if (view.find(type, term)?.name === resource.name) terms.push(term);
  }
  return terms.sort();
}
