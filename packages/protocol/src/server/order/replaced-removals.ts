import type { TypeTraits } from "../../resource/type-traits.ts";
import type { View } from "../../state/view.ts";
import type { PendingResponse } from "../type/type-stream.ts";

/**
 * The test for removals that must not wait, of a type of which a client rejects two resources with the same domain or
 * key: what is sent may replace what is removed, under another name. Virtual hosts replace others of their route
 * configuration only; as long as there is that, their removal is an edit of it.
 */
export function replacedRemovals(
  { terms, owner }: Pick<TypeTraits, "terms" | "owner">,
  answers: readonly Pick<PendingResponse, "body">[],
  view: View,
): (name: string) => boolean {
  const ownerOf = (name: string): string => terms?.ownerOf(name) ?? "";
  const sent = new Set<string>();
  for (const { body } of answers)
    for (const { puts } of body.segments) for (const { name } of puts) sent.add(ownerOf(name));
  const isOwned = (name: string): boolean => owner !== undefined && view.holder(owner, ownerOf(name)) !== undefined;
  return (name) => sent.has(ownerOf(name)) || isOwned(name);
}
