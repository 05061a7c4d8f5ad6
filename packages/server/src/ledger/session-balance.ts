/** What is looked at in a second: connections that were not asked to leave. */
export interface BalanceFacts {
  /** Milliseconds of any clock that does not go back. */
  readonly nowMs: number;
  readonly own: number;
  /** Of each other server that takes clients, by the id that it has from its start on. */
  readonly others: ReadonlyMap<string, number>;
}

/** So many servers are remembered, so that one that was away for a moment is not taken for a new one. */
const MOST_MET = 1_000;

/** By how much a server may have less than its share: a number, a part of it, and deviations of what a random choice gives. */
interface Tolerance {
  readonly floor: number;
  readonly part: number;
  readonly deviations: number;
}

/** Above this it begins, and goes on until little is left. */
const BEGINS: Tolerance = { floor: 10, part: 0.1, deviations: 4 };
const ENDS: Tolerance = { floor: 3, part: 0.03, deviations: 1 };
/** How long another must have too few: servers are restarted one after another. */
const SETTLE_MS = 10_000;
/** What is too much goes with this time constant, where a load balancer picks at random. */
const SPREAD_S = 20;
/** How long nothing is tried after all connections were moved once; twice as long each time that this does not help. */
const REST_MS = 10 * 60_000;
const LONGEST_REST_MS = 24 * 60 * 60_000;

/**
 * Says how many of its connections a server closes, so that one that is new, or was restarted, gets its share. A load balancer
 * gives the clients to whom it will, perhaps to the same server again: so each connection is moved about once, and then there is a rest.
 */
export class SessionBalance {
  #unbalancedSince: number | undefined;
  /** How many may still be closed before the rest. */
  #left: number | undefined;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #restMs = REST_MS;
  readonly #met = new Set<string>();
  /** What is due and is less than a connection. */
  #fraction = 0;

  /** How many connections to close now; called once a second. */
  next({ nowMs, own, others }: BalanceFacts): number {
    this.#meet(others.keys());
    const servers = others.size + 1;
    const share = [...others.values()].reduce((sum, one) => sum + one, own) / servers;
    const excess = own - share;
    const missing = share - Math.min(own, ...others.values());
    const { floor, part, deviations } = this.#left === undefined ? BEGINS : ENDS;
    const isBalanced = excess < 1 || missing <= Math.max(floor, part * share, deviations * Math.sqrt(share));
    if (nowMs < this.#restsUntil) return 0;
    if (isBalanced) {
      this.#restMs = REST_MS;
      this.#unbalancedSince = undefined;
      this.#left = undefined;
      return 0;
    }
    this.#unbalancedSince ??= nowMs;
    if (nowMs - this.#unbalancedSince < SETTLE_MS) return 0;
    this.#left ??= own;
    // Of those that leave, one in so many comes back if somebody picks at random.
    const due = Math.min(own, excess * servers) / SPREAD_S + this.#fraction;
    this.#fraction = due - Math.floor(due);
    return Math.min(Math.floor(due), this.#left);
  }

  /** So many of what was due have been closed: those that are young stay. */
  closed(count: number, nowMs: number): void {
    if (this.#left === undefined) return;
    this.#left -= count;
    if (this.#left > 0) return;
    this.#left = undefined;
    this.#unbalancedSince = undefined;
    this.#restsUntil = nowMs + this.#restMs;
    this.#restMs = Math.min(2 * this.#restMs, LONGEST_REST_MS);
  }

  /** With a server that has started since, there is another place to go. */
  #meet(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#met.has(id)) continue;
      this.#met.add(id);
      this.#restsUntil = Number.NEGATIVE_INFINITY;
      this.#restMs = REST_MS;
      const [oldest] = this.#met;
      if (this.#met.size > MOST_MET && oldest !== undefined) this.#met.delete(oldest);
    }
  }
}
