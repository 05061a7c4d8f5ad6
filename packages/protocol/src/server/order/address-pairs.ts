import { addressesBeyond, addressesOf } from "../../resource/addresses.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import type { HeldBackNames } from "../type/held-back.ts";

/** An address that one resource gives up and another one takes. */
interface Pair {
  readonly giver: string;
  readonly taker: string;
  readonly address: string;
}

/**
 * Which resources give up an address that another one takes. Both are sent together: without the giver a client rejects
 * the taker, and without the taker nothing is at the address (S-ORD-01).
 */
export class AddressPairs {
  readonly #traits: Pick<TypeTraits, "addressesIn">;
  /** By address. */
  readonly #givers = new Map<string, string>();
  readonly #takers = new Map<string, string>();

  constructor(traits: Pick<TypeTraits, "addressesIn">) {
    this.#traits = traits;
  }

  /** Adds a resource that could be sent, or waits. */
  add({ resource, replaces }: PendingResource): void {
    const [before, after] = [addressesOf(replaces, this.#traits), addressesOf(resource, this.#traits)];
    for (const address of addressesBeyond(before, after)) this.#givers.set(address, resource.name);
    for (const address of addressesBeyond(after, before)) this.#takers.set(address, resource.name);
  }

  /** Adds to what is held back all that cannot be sent without it. */
  holdTogether(heldBack: HeldBackNames): HeldBackNames {
    const pairs = this.#pairsByName();
    if (pairs.size === 0) return heldBack;
    const held = new Map(heldBack);
    const isAt = (name: string, address: string): boolean | undefined => {
      const instead = held.get(name);
      return instead && addressesOf(instead.resource, this.#traits).includes(address);
    };
    const frees = ({ giver, address }: Pair): boolean => !held.has(giver) || isAt(giver, address) === false;
    const takes = ({ taker, address }: Pair): boolean => !held.has(taker) || isAt(taker, address) === true;
    const due = new Set(pairs.keys());
    // A set is walked up to what is added meanwhile.
    for (const name of due) {
      due.delete(name);
      for (const pair of pairs.get(name) ?? []) {
        const isFreed = frees(pair);
        if (isFreed === takes(pair)) continue;
        const waits = isFreed ? pair.giver : pair.taker;
        held.set(waits, undefined);
        due.add(waits);
      }
    }
    return held;
  }

  #pairsByName(): ReadonlyMap<string, readonly Pair[]> {
    const pairs = new Map<string, Pair[]>();
    for (const [address, giver] of this.#givers) {
      const taker = this.#takers.get(address);
      if (taker === undefined || taker === giver) continue;
      for (const name of [giver, taker]) {
        const known = pairs.get(name);
        if (known === undefined) pairs.set(name, [{ giver, taker, address }]);
        else known.push({ giver, taker, address });
      }
    }
    return pairs;
  }
}
