import type { Reference, Resource } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Delivery } from "./delivery.ts";
import type { TypeStream } from "./type-stream.ts";

/** A user that the client cannot use before it has what the user names. */
interface UnreadyUser {
  readonly names: readonly Reference[];
  readonly user: TypeStream;
  readonly delivery: Delivery;
  /** What the client goes on using is of this revision. */
  readonly from: number;
}

/**
 * Users of Clusters that were sent, a Listener for one, of which the client goes on using what was before until it has what
 * they name: routes, for one, which may use Clusters too.
 */
export class UnreadyUsers {
  /** By type and name. */
  readonly #unready = new Map<string, UnreadyUser>();
  readonly #mayUseClusters: (type: TypeUrl) => boolean;

  /** `mayUseClusters`: whether resources of a type may name Clusters. */
  constructor(mayUseClusters: (type: TypeUrl) => boolean) {
    this.#mayUseClusters = mayUseClusters;
  }

  get isEmpty(): boolean {
    return this.#unready.size === 0;
  }

  /** A type that something of the oldest waits for; undefined if none is unready. */
  get awaitedType(): TypeUrl | undefined {
    const [oldest] = this.#unready.values();
    return oldest && (oldest.names[0]?.type ?? oldest.user.traits.type);
  }

  /** Users were sent. */
  send(user: TypeStream, delivery: Delivery): void {
    const { type, variant, segments } = delivery.body;
    const listed = new Set<string>();
    for (const { puts, removed } of segments) {
      for (const name of removed) this.#follow(`${type} ${name}`, [], user, delivery);
      for (const { name, references } of puts) {
        const key = `${type} ${name}`;
        listed.add(key);
        const names = references.filter((one) => this.#mayUseClusters(one.type));
        this.#follow(key, names, user, delivery);
      }
    }
    if (variant === "delta" || !user.traits.isFullState) return;
    for (const key of this.#unready.keys()) {
      if (key.startsWith(`${type} `) && !listed.has(key)) this.#follow(key, [], user, delivery);
    }
  }

  /** The stream of that type is closed. */
  leave(type: TypeStream): void {
    for (const [key, { user }] of this.#unready) if (user === type) this.#unready.delete(key);
  }

  /** Whether a resource takes the place of something, though nobody knows of what. */
  awaits({ type, name }: Resource): boolean {
    for (const { names } of this.#unready.values()) {
      if (names.some((one) => one.type === type && one.name === name)) return true;
    }
    return false;
  }

  /** The revision before the oldest that names what the client has not asked for, or has not accepted yet. Infinite: none. */
  readyTo(isSettled: (reference: Reference) => boolean): number {
    let to = Number.POSITIVE_INFINITY;
    for (const [key, { names, user, delivery, from }] of this.#unready) {
      // Before the client has it, it has not given up what it asked for until now.
      const isHad = !user.deliveries.pending.includes(delivery);
      if (isHad && names.every(isSettled)) this.#unready.delete(key);
      else to = Math.min(to, from);
    }
    return to;
  }

  /** Until this is accepted, the client goes on with what was before the one that it replaces. */
  #follow(key: string, names: readonly Reference[], user: TypeStream, delivery: Delivery): void {
    const before = this.#unready.get(key);
    if (names.length === 0 && before === undefined) return;
    this.#unready.set(key, { names, user, delivery, from: before?.from ?? delivery.from ?? -1 });
  }
}
