import type { Body } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import { LazyMap } from "../memory/lazy.ts";
import { countOf } from "../subscription/names.ts";
import { coversName, type Scope, type Subscription } from "../subscription/subscription.ts";
import { resourcesIn } from "./nack-history.ts";

/** What was rejected of one name. */
interface RejectedName {
  /** Undefined: its removal. */
  readonly put: Resource | undefined;
  /** The subscription when the response was sent, where the name may have been subscribed to by an alias. */
  readonly asked: Scope | undefined;
  /** Whether it is the removal of a resource; otherwise, without a resource, the name was reported as missing. */
  readonly isRemoval: boolean;
  /** The names of the same response, with this one, that are still rejected. */
  readonly together: Set<string>;
}

/**
 * The names of one type whose newest state a client rejected on one stream: the client goes on with their former state.
 */
export class RejectedNames {
  readonly #names = new LazyMap<string, RejectedName>();
  #resources = 0;
  #counted = 0;
  #scopes = 0;
  #newestScope: Scope | undefined;

  get size(): number {
    return this.#names.size;
  }

  /** Whether the newest state of a name was rejected. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether a resource was rejected, and not only a removal. */
  get hasResources(): boolean {
    return this.#resources > 0;
  }

  /** How many names without a resource there are, as limits count them: perhaps nothing else keeps them any more. */
  get counted(): number {
    return this.#counted;
  }

  /** The newest subscription that is remembered with a name; undefined: none is. */
  get scope(): Scope | undefined {
    return this.#newestScope;
  }

  /** Adds the names of a NACKed body. `asked`: the subscription when it was sent. */
  add(names: Iterable<string>, body: Body, asked: Scope | undefined): void {
    const puts = resourcesIn(body);
    const removed = new Set(body.segments.flatMap((segment) => segment.removed));
    const together = new Set<string>();
    for (const name of names) {
      this.#delete(name);
      const put = puts.get(name);
      const mayBeAlias = put === undefined && asked !== undefined && !coversName(asked, name);
      const isRemoval = removed.has(name);
      this.#names.set(name, { put, asked: mayBeAlias ? asked : undefined, isRemoval, together });
      together.add(name);
      if (put === undefined) this.#counted += countOf(name);
      else this.#resources++;
      if (mayBeAlias) {
        this.#scopes++;
        this.#newestScope = asked;
      }
    }
  }

  /**
   * Removes the names of an ACKed body, and the aliases of its resources: a name that was rejected as missing exists
   * now.
   */
  accept(names: Iterable<string>, body: Body): void {
    if (this.#names.size === 0) return;
    for (const name of names) this.#delete(name);
    for (const { aliases } of resourcesIn(body).values()) for (const alias of aliases) this.#delete(alias);
  }

  /**
   * The other names of the responses that were rejected with one of these, and whether each is a removal. It takes as
   * long as there are names of such responses, or names on the shorter side.
   */
  restOf(changed: ReadonlySet<string>): ReadonlyMap<string, boolean> {
    const rest = new Map<string, boolean>();
    const [few, many] = this.#names.size < changed.size ? [this.#names, changed] : [changed, this.#names];
    const found = new Set<ReadonlySet<string>>();
    for (const name of few.keys()) {
      const together = many.has(name) ? this.#names.get(name)?.together : undefined;
      if (together === undefined || found.has(together)) continue;
      found.add(together);
      for (const other of together)
        if (!changed.has(other)) rest.set(other, this.#names.get(other)?.isRemoval === true);
    }
    return rest;
  }

  /** Removes names that are no longer subscribed to: the client dropped their resources. */
  keepAsked(subscription: Subscription): void {
    for (const [name, refused] of this.#names) if (!isAsked(name, refused, subscription)) this.#delete(name);
  }

  #delete(name: string): void {
    const known = this.#names.get(name);
    if (known === undefined) return;
    this.#names.delete(name);
    known.together.delete(name);
    if (known.put === undefined) this.#counted -= countOf(name);
    else this.#resources--;
    if (known.asked !== undefined && --this.#scopes === 0) this.#newestScope = undefined;
  }
}

function isAsked(name: string, { put, asked }: RejectedName, subscription: Subscription): boolean {
  if (subscription.isWildcard || subscription.isNamed(name)) return true;
  if (put !== undefined) return subscription.covers(put);
  // The aliases of a deleted resource are unknown: unless its own name was subscribed to, any name of then may be its
  // alias.
  return asked !== undefined && isAnyAsked(asked, subscription);
}

/** Whether the subscription still asks for anything that this scope asked for. */
export function isAnyAsked({ isWildcard, names }: Scope, subscription: Subscription): boolean {
  if (subscription.isWildcard) return true;
  if (isWildcard) return subscription.names.size > 0;
  for (const name of names) if (subscription.names.has(name)) return true;
  return false;
}
