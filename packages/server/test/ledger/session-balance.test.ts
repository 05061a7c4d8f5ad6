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

/** No connection that is younger leaves. */
const MOVED_FROM_S = 60;

/** Servers with connections, each of which follows the balance; what is closed comes back a second later. */
class Fleet {
  /** When each connection of each server was opened, in seconds, the oldest first. */
  readonly #opened: number[][];
  readonly #balances: SessionBalance[];
  readonly #pick: Pick;
  readonly #next: () => number;
  closed = 0;
  #second = 0;

  constructor(connections: readonly number[], pick: Pick, next: () => number, ageSeconds = 3_600) {
    this.#opened = connections.map((count) => Array.from({ length: count }, () => -ageSeconds));
    this.#balances = connections.map(() => new SessionBalance());
    this.#pick = pick;
    this.#next = next;
  }

  get connections(): readonly number[] {
    return this.#opened.map(({ length }) => length);
  }

  add(): void {
    this.#opened.push([]);
    this.#balances.push(new SessionBalance());
  }

  /**
   * Servers know of each other what was so at the last multiple of five seconds; `isTold`: whether a server is known to
   * take clients then.
   */
  run(seconds: number, isTold: (index: number, second: number) => boolean = () => true): void {
    let told = this.connections;
    let toldAt = 0;
    for (let second = 0; second < seconds; second++) {
      if (second % 5 === 0) [told, toldAt] = [this.connections, second];
      this.#second++;
      const nowMs = this.#second * 1_000;
      let left = 0;
      for (const [index, balance] of this.#balances.entries()) {
        const opened = this.#opened[index] ?? [];
        const others = new Map(
          told.flatMap((count, other) =>
            other === index || !isTold(other, toldAt) ? [] : [[`server ${other}`, count] as const],
          ),
        );
        const due = balance.next({ nowMs, own: opened.length, others });
        const old = opened.findIndex((at) => at > this.#second - MOVED_FROM_S);
        const moved = opened.splice(0, Math.min(due, old === -1 ? opened.length : old)).length;
        balance.closed(moved, nowMs);
        left += moved;
      }
      this.closed += left;
      for (; left > 0; left--) this.#opened[this.#pick(this.connections, this.#next)]?.push(this.#second);
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

  test("go to a server that comes back while all of them are young, once they are older", () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 3_000 }), numbers, (each, next) => {
        // As after a restart of two servers, one after the other: all clients have just come to the first.
        const fleet = new Fleet([each, 0], picks.random, next, 0);
        fleet.run(59);
        expect(fleet.closed).toBe(0);
        fleet.run(60);
        expect((fleet.connections[1] ?? 0) / (each / 2)).toBeGreaterThan(0.75);
      }),
      { numRuns: 20 },
    );
  });

  test("rest, though the others are no place to go now and then", () => {
    fc.assert(
      fc.property(numbers, (next) => {
        const fleet = new Fleet([1_000, 0, 0], picks.first, next);
        // Each of them is behind for a moment whenever something is published.
        fleet.run(3_600, (index, second) => second % (20 + 5 * index) !== 0);
        // At 0, 10 and 30 minutes.
        expect(fleet.closed).toBeLessThanOrEqual(3 * 1_000);
      }),
      { numRuns: 5 },
    );
  });

  test("are let be while a server is restarted, and where nobody has many", () => {
    const balance = new SessionBalance();
    const at = (second: number, own: number, others: readonly number[]): number =>
      balance.next({ nowMs: second * 1_000, own, others: new Map(others.map((count, id) => [`${id}`, count])) });
    for (let second = 0; second < 9; second++) expect(at(second, 500, [0])).toBe(0);
    for (let second = 9; second < 60; second++) expect(at(second, 500, [500])).toBe(0);
    for (let second = 60; second < 90; second++) expect(at(second, 12, [0])).toBe(0);
    for (let second = 90; second < 120; second++) expect(at(second, 100_000, [])).toBe(0);
  });
});
