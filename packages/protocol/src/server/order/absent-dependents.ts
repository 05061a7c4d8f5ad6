import type { TypeUrl } from "../../resource/type-url.ts";
import { memo } from "../memory/memo.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderMembers } from "./order-members.ts";

/** Names of one type that are remembered at most: what is beyond that counts as given up. */
const MOST_NAMES = 10_000;

/** What was asked for of a type on streams that are gone. */
interface Absent {
  isWildcard: boolean;
  readonly names: Set<string>;
}

/**
 * Users of Clusters whose stream of its own ended while that of the Clusters goes on. Either it broke, and the client goes on using what it
 * has until it is back; or the client gave it up with what had told it to ask, as an Envoy does with the routes of a Listener.
 */
export class AbsentDependents {
  readonly #members: OrderMembers;
  readonly #absent = new Map<TypeUrl, Absent>();

  constructor(members: OrderMembers) {
    this.#members = members;
  }

  leave({ traits, subscription }: TypeStream): void {
    const absent = memo(this.#absent, traits.type, () => ({ isWildcard: false, names: new Set<string>() }));
    absent.isWildcard ||= subscription.isWildcard;
    for (const name of subscription.names) {
      if (absent.names.size >= MOST_NAMES) break;
      absent.names.add(name);
    }
  }

  clear(): void {
    this.#absent.clear();
  }

  /** Any of them is expected back. Those that are back, or given up, are forgotten. */
  get areExpected(): boolean {
    for (const [type, absent] of this.#absent) {
      this.#forgetBack(type, absent);
      this.#forgetGivenUp(type, absent);
      if (!absent.isWildcard && absent.names.size === 0) this.#absent.delete(type);
    }
    return this.#absent.size > 0;
  }

  #forgetBack(type: TypeUrl, absent: Absent): void {
    for (const { traits, subscription } of this.#members.users.keys()) {
      if (traits.type !== type) continue;
      if (subscription.isWildcard) absent.isWildcard = false;
      for (const name of absent.names) if (subscription.isNamed(name)) absent.names.delete(name);
    }
  }

  /** What no Listener that the client has from here asks for any more. */
  #forgetGivenUp(type: TypeUrl, { names }: Absent): void {
    if (names.size === 0) return;
    const wanted = new Set<string>();
    let hasOwners = false;
    for (const [user, { view }] of this.#members.users) {
      if (user.traits.kind !== "lds") continue;
      hasOwners = true;
      for (const { references } of view.members(user.traits.type))
        for (const reference of references) if (reference.type === type) wanted.add(reference.name);
    }
    if (hasOwners) for (const name of names) if (!wanted.has(name)) names.delete(name);
  }
}
