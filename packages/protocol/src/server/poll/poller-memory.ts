import { hostOf } from "../../node/host.ts";
import type { Node } from "../../node/node.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { PolledSubscription } from "./polled-subscription.ts";
import type { Poller } from "./poller.ts";

/** A poller that does not poll during two of these periods in a row is forgotten; in milliseconds. */
const SWEEP_MS = 150_000;
/** The most pollers, and the most names that all of them subscribe to, which are kept in memory. */
const LIMITS = { pollers: 100_000, names: 4_000_000 };

/** The recent pollers, bounded in number and in time. */
export class PollerMemory implements Iterable<Poller> {
  /** In order of their last poll, the newest last. */
  readonly #pollers = new Map<string, Poller>();
  readonly #sweepOf = new WeakMap<Poller, number>();
  readonly #nextTimer: () => number;
  readonly #limits: typeof LIMITS;
  #names = 0;
  #sweep = 0;
  #timer: number | undefined;

  /** Beyond the limits, pollers that have not polled for longest are forgotten. */
  constructor(nextTimer: () => number, limits: typeof LIMITS = LIMITS) {
    this.#nextTimer = nextTimer;
    this.#limits = limits;
  }

  [Symbol.iterator](): Iterator<Poller> {
    return this.#pollers.values();
  }

  /**
   * The key includes the address, because clients with the same node id, such as cloned pods, have different addresses,
   * and who the client is, because two behind one address may have different rights.
   */
  keyOf({ id }: Node, { address, isLoopback, certificate }: Peer, { traits, key }: PolledSubscription): string {
    const { uris = [], dnsNames = [], commonName = "" } = certificate ?? {};
    const identity = JSON.stringify([isLoopback, certificate !== undefined, commonName, uris, dnsNames]);
    return `${id}\n${hostOf(address)}\n${identity}\n${traits.type}\n${key}`;
  }

  /** The poller of this key, marked as having polled just now; undefined: unknown. */
  seen(key: string): Poller | undefined {
    const poller = this.#pollers.get(key);
    if (poller === undefined) return undefined;
    this.#pollers.delete(key);
    this.#pollers.set(key, poller);
    this.#sweepOf.set(poller, this.#sweep);
    return poller;
  }

  /** Adds a poller, and forgets the oldest ones beyond the limits. */
  add(poller: Poller, forget: (poller: Poller) => readonly ServerEffect[]): readonly ServerEffect[] {
    this.#pollers.set(poller.key, poller);
    this.#sweepOf.set(poller, this.#sweep);
    this.#names += namesOf(poller);
    const effects: ServerEffect[] = [];
    for (const oldest of this.#pollers.values()) {
      if (this.#pollers.size <= this.#limits.pollers && this.#names <= this.#limits.names) break;
      if (oldest.waiting.size === 0 && oldest !== poller) effects.push(...this.#remove(oldest, forget));
    }
    return [...effects, ...this.#startSweep()];
  }

  /** Forgets old pollers if the timer is that of the sweep; undefined: another timer. */
  fired(timer: number, forget: (poller: Poller) => readonly ServerEffect[]): readonly ServerEffect[] | undefined {
    if (timer !== this.#timer) return undefined;
    this.#timer = undefined;
    this.#sweep++;
    const effects: ServerEffect[] = [];
    for (const poller of this.#pollers.values()) {
      if ((this.#sweepOf.get(poller) ?? 0) >= this.#sweep - 1) break;
      if (poller.waiting.size === 0) effects.push(...this.#remove(poller, forget));
    }
    return this.#pollers.size === 0 ? effects : [...effects, ...this.#startSweep()];
  }

  #startSweep(): readonly ServerEffect[] {
    if (this.#timer !== undefined) return [];
    this.#timer = this.#nextTimer();
    return [{ kind: "start-timer", timer: this.#timer, ms: SWEEP_MS }];
  }

  #remove(poller: Poller, forget: (poller: Poller) => readonly ServerEffect[]): readonly ServerEffect[] {
    this.#pollers.delete(poller.key);
    this.#names -= namesOf(poller);
    return forget(poller);
  }
}

function namesOf({ polled }: Poller): number {
  return polled.subscription.names.size;
}
