/** What is looked at in a second: connections that were not asked to leave. */
export interface BalanceFacts {
  /** Milliseconds of any clock that does not go back. */
  readonly nowMs: number;
  readonly own: number;
  /** Of each other server that takes clients. */
  readonly others: readonly number[];
}

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
  #servers = 0;
  /** What is due and is less than a connection. */
  #fraction = 0;

  /** How many connections to close now; called once a second. */
  next({ nowMs, own, others }: BalanceFacts): number {
    const servers = others.length + 1;
    // With another server there is another place to go.
    if (servers > this.#servers) {
      this.#restsUntil = Number.NEGATIVE_INFINITY;
      this.#restMs = REST_MS;
    }
    this.#servers = servers;
    const share = others.reduce((sum, one) => sum + one, own) / servers;
    const excess = own - share;
    const missing = share - Math.min(...others);
    const { floor, part, deviations } = this.#left === undefined ? BEGINS : ENDS;
    const isBalanced = excess < 1 || missing <= Math.max(floor, part * share, deviations * Math.sqrt(share));
    if (isBalanced && nowMs >= this.#restsUntil) this.#restMs = REST_MS;
    if (isBalanced || nowMs < this.#restsUntil) {
      this.#unbalancedSince = undefined;
      this.#left = undefined;
      return 0;
    }
    this.#unbalancedSince ??= nowMs;
    if (nowMs - this.#unbalancedSince < SETTLE_MS) return 0;
    this.#left ??= own;
    // Of those that leave, one in so many comes back if somebody picks at random.
    const due = Math.min(own, excess * servers) / SPREAD_S + this.#fraction;
    const count = Math.min(Math.floor(due), this.#left);
    this.#fraction = due - Math.floor(due);
    this.#left -= count;
    if (this.#left === 0) {
      this.#restsUntil = nowMs + this.#restMs;
      this.#restMs = Math.min(2 * this.#restMs, LONGEST_REST_MS);
    }
    return count;
  }
}
