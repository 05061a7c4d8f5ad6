import type { Scope } from "../subscription/subscription.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderMembers } from "./order-members.ts";

/** What was asked for on a stream that is gone. */
interface Absent {
  readonly type: TypeStream;
  readonly scope: Scope;
}

/**
 * Users of Clusters whose stream of its own ended while that of the Clusters goes on. Either it broke, and the client goes on using what it
 * has until it is back; or the client gave it up with what had told it to ask, as an Envoy does with the routes of a Listener.
 */
export class AbsentUsers {
  readonly #members: OrderMembers;
  #absent: readonly Absent[] = [];

  constructor(members: OrderMembers) {
    this.#members = members;
  }

  leave(type: TypeStream): void {
    this.#absent = [...this.#absent, { type, scope: type.subscription.scope }];
  }

  clear(): void {
    this.#absent = [];
  }

  /** Any of them is expected back. Those that are back, or given up, are forgotten. */
  get areExpected(): boolean {
    if (this.#absent.length > 0)
      this.#absent = this.#absent.filter((one) => !this.#isBack(one) && !this.#isGivenUp(one));
    return this.#absent.length > 0;
  }

  #isBack({ type, scope }: Absent): boolean {
    const back = [...this.#members.users.keys()].filter(({ traits }) => traits.type === type.traits.type);
    if (scope.isWildcard) return back.some(({ subscription }) => subscription.isWildcard);
    for (const name of scope.names) if (!back.some(({ subscription }) => subscription.isNamed(name))) return false;
    return true;
  }

  /** Nothing that the client has Listeners from here for asks for any of it any more. */
  #isGivenUp({ type: { traits }, scope }: Absent): boolean {
    if (scope.isWildcard) return false;
    let hasOwners = false;
    for (const [user, { view }] of this.#members.users) {
      if (user.traits.kind !== "lds") continue;
      hasOwners = true;
      for (const owner of view.members(user.traits.type)) {
        if (owner.references.some(({ type, name }) => type === traits.type && scope.names.has(name))) return false;
      }
    }
    return hasOwners;
  }
}
