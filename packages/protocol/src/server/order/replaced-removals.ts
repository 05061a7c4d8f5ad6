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
  const puts = answers.flatMap(({ body }) => body.segments.map((segment) => segment.puts));
  if (terms === undefined || owner === undefined) {
    const isAnySent = puts.some((list) => list.length > 0);
    return () => isAnySent;
  }
  const ownerOf = (name: string): string => terms.ownerOf(name) ?? "";
  let sent: ReadonlySet<string> | undefined;
  return (name) => {
    if (view.holder(owner, ownerOf(name)) !== undefined) return true;
    sent ??= new Set(puts.flatMap((list) => list.map((put) => ownerOf(put.name))));
    return sent.has(ownerOf(name));
  };
}
