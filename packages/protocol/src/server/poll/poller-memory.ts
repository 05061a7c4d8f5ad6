import { hostOf } from "../../node/host.ts";
import type { Node } from "../../node/node.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { PolledSubscription } from "./polled-subscription.ts";
import type { Poller } from "./poller.ts";

/** Whoever has not polled for two of these in a row is forgotten. */
const SWEEP_MS = 150_000;
/** More are forgotten from the one on that polled longest ago. */
const MAX_POLLERS = 100_000;
/** The same for the names that they ask for, which are kept in memory. */
const MAX_NAMES = 4_000_000;

/** Everybody who polled of late; bounded in number and in time. */
export class PollerMemory implements Iterable<Poller> {
  /** In the order in which they polled last. */
  readonly #pollers = new Map<string, Poller>();
  readonly #sweepOf = new WeakMap<Poller, number>();
  readonly #nextTimer: () => number;
  #names = 0;
  #sweep = 0;
  #timer: number | undefined;

  constructor(nextTimer: () => number) {
    this.#nextTimer = nextTimer;
  }

  [Symbol.iterator](): Iterator<Poller> {
    return this.#pollers.values();
  }

  /** Clients that have one id, as pods that were cloned, come from different addresses. */
  keyOf({ id }: Node, peer: Peer, { traits, key }: PolledSubscription): string {
    return `${id}\n${hostOf(peer.address)}\n${traits.type}\n${key}`;
  }

  /** Who polled under that key before; it has polled just now. */
  seen(key: string): Poller | undefined {
    const poller = this.#pollers.get(key);
    if (poller === undefined) return undefined;
    this.#pollers.delete(key);
    this.#pollers.set(key, poller);
    this.#sweepOf.set(poller, this.#sweep);
    return poller;
  }

  /** Takes in one more, and out the oldest where there are too many. */
  add(poller: Poller, forget: (poller: Poller) => readonly ServerEffect[]): readonly ServerEffect[] {
    this.#pollers.set(poller.key, poller);
    this.#sweepOf.set(poller, this.#sweep);
    this.#names += namesOf(poller);
    const effects: ServerEffect[] = [];
    for (const oldest of this.#pollers.values()) {
      if (this.#pollers.size <= MAX_POLLERS && this.#names <= MAX_NAMES) break;
      if (oldest.waiting.size === 0 && oldest !== poller) effects.push(...this.#remove(oldest, forget));
    }
    return [...effects, ...this.#startSweep()];
  }

  /** Sweeps if it was the timer for that; undefined if not. */
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

function namesOf({ topic }: Poller): number {
  return topic.subscription.names.size;
}
