import { isGlob } from "../resource/resource-name.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { View } from "../state/view.ts";
import type { Present } from "./present.ts";
import type { Subscription } from "./subscription.ts";

/**
 * Terms to be answered, with what is subscribed of a collection of the type's own in the place of the collection. Only what
 * is there: that nothing answers to a term was said when it was asked for (S-VHD-04).
 */
export function* termsBehind(
  terms: Iterable<string>,
  { type, terms: rules }: TypeTraits,
  subscription: Subscription,
  view: View,
  present: Present,
): Iterable<string> {
  for (const term of terms) {
    if (rules?.collectionOf(term) !== term) {
      yield term;
      continue;
    }
    if (subscription.isWildcard) yield* present.baseOf(view, type, term);
    for (const name of subscription.names) {
      if (rules.collectionOf(name) === term && view.find(type, name) !== undefined) yield name;
    }
  }
}

/** Names, with the members of glob collections in the place of those. */
export function* membersOf(names: Iterable<string>, type: TypeUrl, view: View): Iterable<string> {
  for (const name of names) {
    if (isGlob(name)) for (const { name: member } of view.answersTo(type, name)) yield member;
    else yield name;
  }
}
