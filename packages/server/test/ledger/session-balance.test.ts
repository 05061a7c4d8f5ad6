import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SessionBalance } from "../../src/ledger/session-balance.ts";

type Pick = (connections: readonly number[], next: () => number) => number;

/** How a load balancer chooses among the servers. */
const picks = {
  random: (connections, next) => Math.floor(next() * connections.length),
  least: (connections) => connections.indexOf(Math.min(...connections)),
  first: () => 0,
} as const satisfies Readonly<Record<string, Pick>>;

/** Servers with connections, each of which follows the balance; what is closed comes back a second later. */
class Fleet {
  readonly connections: number[];
  readonly #balances: SessionBalance[];
  readonly #pick: Pick;
  readonly #next: () => number;
  closed = 0;
  #nowMs = 0;

  constructor(connections: readonly number[], pick: Pick, next: () => number) {
    this.connections = [...connections];
    this.#balances = connections.map(() => new SessionBalance());
    this.#pick = pick;
    this.#next = next;
  }

  add(): void {
    this.connections.push(0);
    this.#balances.push(new SessionBalance());
  }

  /** Servers know of each other what was so at the last multiple of five seconds. */
  run(seconds: number): void {
    let told = [...this.connections];
    for (let second = 0; second < seconds; second++) {
      if (second % 5 === 0) told = [...this.connections];
      this.#nowMs += 1_000;
      const closed = this.#balances.map((balance, index) =>
        balance.next({
          nowMs: this.#nowMs,
          own: this.connections[index] ?? 0,
          others: told.filter((_, other) => other !== index),
        }),
      );
      for (const [index, count] of closed.entries()) this.connections[index] = (this.connections[index] ?? 0) - count;
      for (let one = closed.reduce((sum, count) => sum + count, 0); one > 0; one--) {
        this.closed++;
        const to = this.#pick(this.connections, this.#next);
        this.connections[to] = (this.connections[to] ?? 0) + 1;
      }
    }
  }
}

/** Numbers from 0 up to 1 that are spread evenly (mulberry32). */
const numbers = fc.integer().map((seed) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
});
const sizes = fc.array(fc.integer({ min: 300, max: 3_000 }), { minLength: 1, maxLength: 6 });

describe("connections of servers that share a store", () => {
  test.each(["random", "least"] as const)("a new server has most of its share within a minute (%s)", (name) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 300, max: 3_000 }),
        numbers,
        (servers, each, next) => {
          const fleet = new Fleet(
            Array.from({ length: servers }, () => each),
            picks[name],
            next,
          );
          fleet.run(30);
          expect(fleet.closed).toBe(0);
          fleet.add();
          fleet.run(60);
          const share = (servers * each) / (servers + 1);
          expect((fleet.connections.at(-1) ?? 0) / share).toBeGreaterThan(0.75);
          const { closed } = fleet;
          // What is closed later is little: it comes to rest.
          fleet.run(600);
          expect(fleet.closed - closed).toBeLessThan(share);
          const before = fleet.closed;
          fleet.run(3_600);
          expect(fleet.closed).toBe(before);
        },
      ),
      { numRuns: 20 },
    );
  });

  test("each is moved about once where the load balancer always picks the same, and then there is a rest", () => {
    fc.assert(
      fc.property(sizes, numbers, (connections, next) => {
        const fleet = new Fleet([3_000, ...connections], picks.first, next);
        const all = connections.reduce((sum, one) => sum + one, 3_000);
        fleet.run(600);
        expect(fleet.closed).toBeLessThanOrEqual(2 * all);
        // After a day it has tried eight times, and no oftener: 10 minutes, 20, 40, … later.
        fleet.run(86_400);
        expect(fleet.closed).toBeLessThanOrEqual(9 * all);
      }),
      { numRuns: 5 },
    );
  });

  test("are let be while a server is restarted, and where nobody has many", () => {
    const balance = new SessionBalance();
    const at = (second: number, own: number, others: readonly number[]): number =>
      balance.next({ nowMs: second * 1_000, own, others });
    for (let second = 0; second < 9; second++) expect(at(second, 500, [0])).toBe(0);
    for (let second = 9; second < 60; second++) expect(at(second, 500, [500])).toBe(0);
    for (let second = 60; second < 90; second++) expect(at(second, 12, [0])).toBe(0);
    for (let second = 90; second < 120; second++) expect(at(second, 100_000, [])).toBe(0);
  });
});
