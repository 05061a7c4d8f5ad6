import type { Body } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import { coversName, type Scope, type Subscription } from "../subscription/subscription.ts";
import { resourcesIn } from "./nack-history.ts";

/** What was refused of one name. */
interface RejectedName {
  /** Undefined: that it is gone. */
  readonly put: Resource | undefined;
  /** What was asked for when it left. */
  readonly asked: Scope | undefined;
}

/** The names whose newest word a client refused on one stream, of one type: of each it goes on using what was before. */
export class RejectedNames {
  readonly #names = new Map<string, RejectedName>();

  get size(): number {
    return this.#names.size;
  }

  /** A body that speaks of these names was refused. `asked`: what was asked for when it left. */
  add(names: Iterable<string>, body: Body, asked: Scope | undefined): void {
    const puts = resourcesIn(body);
    for (const name of names) this.#names.set(name, { put: puts.get(name), asked });
  }

  /** A body that speaks of these names was accepted. What was refused as missing under an alias is there now. */
  accept(names: Iterable<string>, body: Body): void {
    if (this.#names.size === 0) return;
    for (const name of names) this.#names.delete(name);
    for (const { aliases } of resourcesIn(body).values()) for (const alias of aliases) this.#names.delete(alias);
  }

  /** Forgets what is not asked for any more: the client dropped what it had of it. */
  keepAsked(subscription: Subscription): void {
    for (const [name, refused] of this.#names) if (!isAsked(name, refused, subscription)) this.#names.delete(name);
  }
}

function isAsked(name: string, { put, asked }: RejectedName, subscription: Subscription): boolean {
  if (subscription.isWildcard || subscription.isNamed(name)) return true;
  if (put !== undefined) return subscription.covers(put);
  // Of what is gone nobody knows the aliases: it may be any name of then, unless it was asked for by its own.
  return asked !== undefined && !coversName(asked, name) && isAnyAsked(asked, subscription);
}

/** Whether anything is asked for still, of what was then. */
export function isAnyAsked({ isWildcard, names }: Scope, subscription: Subscription): boolean {
  if (subscription.isWildcard) return true;
  if (isWildcard) return subscription.names.size > 0;
  for (const name of names) if (subscription.names.has(name)) return true;
  return false;
}
