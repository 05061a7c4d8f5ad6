import type { TypeUrl } from "../../resource/type-url.ts";
import { LazyMap } from "../memory/lazy.ts";
import { memo } from "../memory/memo.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderMembers } from "./order-members.ts";

/** How many names of one type are remembered; more count as given up. */
const MOST_NAMES = 10_000;

/** What closed streams subscribed to of a type. */
interface Absent {
  isWildcard: boolean;
  readonly names: Set<string>;
}

/**
 * Users of Clusters whose per-type stream closed while that of the Clusters goes on. Either the stream broke, and the
 * client uses what it has until it reconnects; or the client no longer needs the type, as an Envoy closes the stream
 * for routes that no Listener names.
 */
export class AbsentDependents {
  readonly #members: OrderMembers;
  readonly #absent = new LazyMap<TypeUrl, Absent>();
  readonly #usesNewest: () => boolean;

  /** `usesNewest`: whether the client uses the newest Listeners, and no earlier ones. */
  constructor(members: OrderMembers, usesNewest: () => boolean) {
    this.#members = members;
    this.#usesNewest = usesNewest;
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

  get isEmpty(): boolean {
    return this.#absent.size === 0;
  }

  /** Whether any of them is expected back. Forgets those that are back or given up. */
  get areExpected(): boolean {
    if (this.#absent.size === 0) return false;
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

  /** Forgets names that no Listener of this client references any more. */
  #forgetGivenUp(type: TypeUrl, { names }: Absent): void {
    if (names.size === 0) return;
    const wanted = new Set<string>();
    let hasOwners = false;
    for (const [user, { current }] of this.#members.users) {
      if (user.traits.kind !== "lds") continue;
      hasOwners = true;
      for (const { references } of current.view.members(user.traits.type))
        for (const reference of references) if (reference.type === type) wanted.add(reference.name);
    }
    if (hasOwners && this.#usesNewest()) for (const name of names) if (!wanted.has(name)) names.delete(name);
  }
}
