import { isGlob, isPrefixGlob, isWithin } from "../../resource/resource-name.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { parseLocated } from "../../resource/variant-name.ts";
import type { Change, Position } from "../../state/difference.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { Locators } from "../subscription/locators.ts";
import type { Subscription } from "../subscription/subscription.ts";

/**
 * Yields the terms to answer, each collection replaced by its subscribed members that exist: that a member does not
 * exist was answered when it was requested (S-VHD-04). A name that a client subscribes to is answered also where it is
 * that of a collection (S-NEX-06).
 */
export function* termsBehind(
  terms: Iterable<string>,
  { type, terms: rules }: TypeTraits,
  subscription: Subscription,
  current: CurrentView,
): Iterable<string> {
  for (const term of terms) {
    const isCollection = rules?.collectionOf(term) === term;
    if (!isCollection || subscription.names.has(term)) yield term;
    if (!isCollection) continue;
    if (subscription.isWildcard) yield* current.baseOf(type, term);
    for (const name of subscription.names) {
      if (rules.collectionOf(name) === term && current.view.find(type, name) !== undefined) yield name;
    }
  }
}

/** The names that a term may match, or may have matched at a position. */
export interface Candidates {
  readonly names: ReadonlySet<string>;
  /** Whether any of them changed since. */
  readonly isTouched: boolean;
}

/** Collects the names that a term may match in a view, and may have matched at the client's position. */
export function candidatesFor(
  term: string,
  { type, terms: rules }: TypeTraits,
  from: Position,
  current: CurrentView,
): Candidates {
  if (parseLocated(term) !== undefined) return locatedCandidates(term, type, from, current);
  const names = new Set<string>();
  const called = isGlob(term) ? undefined : new Set([term, ...(rules?.broader(term) ?? [])]);
  if (called === undefined) for (const { name } of current.view.within(type, term)) names.add(name);
  for (const alias of called ?? []) {
    const resource = current.view.called(type, alias);
    if (resource !== undefined) names.add(resource.name);
  }
  let isTouched = false;
  const changed = called ?? new Set([term]);
  for (const { name } of changesOf(changed, type, from, current)) {
    if (called === undefined && !isWithin(term, name)) continue;
    names.add(name);
    isTouched = true;
  }
  return { names, isTouched };
}

/** The changes of resources that have or had one of these names or aliases; all changes for a wildcard or a prefix. */
function* changesOf(terms: Iterable<string>, type: TypeUrl, from: Position, current: CurrentView): Iterable<Change> {
  for (const term of terms) {
    if (term === "*" || isPrefixGlob(term)) yield* current.differenceSince(from, type).changes;
    else yield* current.changesByTerm(from, type).get(term) ?? [];
  }
}

function locatedCandidates(term: string, type: TypeUrl, from: Position, current: CurrentView): Candidates {
  const names = new Set(current.view.answersTo(type, term).map(({ name }) => name));
  const locators = new Locators([term]);
  let isTouched = false;
  const called = parseLocated(term)?.name ?? term;
  for (const { name, then, now } of changesOf([called], type, from, current)) {
    if (![then, now].some((one) => one !== undefined && locators.covers(one))) continue;
    names.add(name);
    isTouched = true;
  }
  return { names, isTouched };
}
