import { addressesBeyond, addressesOf, type Bound } from "../../resource/addresses.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";

/** A resource that is about to be sent, and what it replaces. */
interface Move {
  readonly resource: Resource;
  readonly replaces: Bound | undefined;
}

const none: readonly string[] = [];

/**
 * Returns the names of resources that take over an address which another one gives up, in an order in
 * which a client can apply them: who gives an address before who takes it. Those that give to each other in a circle come
 * last. What is removed gives up its addresses in any order: a client removes first.
 */
export function takersAmong(moves: Iterable<Move>, traits: Pick<TypeTraits, "addressesIn">): readonly string[] {
  const givers = new Map<string, string>();
  const wanted: (readonly [name: string, addresses: readonly string[]])[] = [];
  for (const { resource, replaces } of moves) {
    const [before, after] = [addressesOf(replaces, traits), addressesOf(resource, traits)];
    for (const address of addressesBeyond(before, after)) givers.set(address, resource.name);
    const addresses = addressesBeyond(after, before);
    if (addresses.length > 0) wanted.push([resource.name, addresses]);
  }
  if (givers.size === 0) return none;
  const takers = new Map<string, ReadonlySet<string>>();
  for (const [name, addresses] of wanted) {
    const from = new Set(addresses.flatMap((address) => givers.get(address) ?? []));
    if (from.size > 0) takers.set(name, from);
  }
  return takers.size === 0 ? none : giversFirst(takers);
}

/** `takers`: from whom each takes something. */
function giversFirst(takers: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const following = new Map<string, string[]>();
  const awaits = new Map<string, number>();
  for (const [taker, givers] of takers) {
    let count = 0;
    for (const giver of givers) {
      if (!takers.has(giver)) continue;
      count++;
      const others = following.get(giver);
      if (others === undefined) following.set(giver, [taker]);
      else others.push(taker);
    }
    awaits.set(taker, count);
  }
  const ordered = new Set<string>();
  for (const [taker, count] of awaits) if (count === 0) ordered.add(taker);
  // A set is walked up to what is added meanwhile.
  for (const giver of ordered) {
    for (const taker of following.get(giver) ?? []) {
      const left = (awaits.get(taker) ?? 0) - 1;
      awaits.set(taker, left);
      if (left === 0) ordered.add(taker);
    }
  }
  for (const taker of takers.keys()) ordered.add(taker);
  return [...ordered];
}
