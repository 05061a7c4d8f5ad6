import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/conversation.ts";
import { polledNames, pollerOf, pollers } from "../../../test/support/pollers.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { Eviction, PollerLimits } from "../contract/stream-limits.ts";
import type { PolledSubscription } from "./polled-subscription.ts";
import type { Poller } from "./poller.ts";
import { PollerMemory } from "./poller-memory.ts";

/** A memory within limits, which notes whom it forgets and numbers its timers from 1. */
class Remembered {
  readonly memory: PollerMemory;
  readonly forgotten: string[] = [];
  readonly evictions: (Eviction | undefined)[] = [];
  #lastTimer = 0;

  constructor(limits: PollerLimits = {}) {
    this.memory = new PollerMemory(() => ++this.#lastTimer, limits);
  }

  readonly forget = (poller: Poller, evicted?: Eviction): readonly ServerEffect[] => {
    this.forgotten.push(poller.key);
    this.evictions.push(evicted);
    return [{ kind: "cancel-timer", timer: poller.id }];
  };

  /** A poller is added, and its poll ends. */
  add(poller: Poller): readonly ServerEffect[] {
    this.memory.add(poller);
    return this.rest(poller);
  }

  rest(poller: Poller): readonly ServerEffect[] {
    return this.memory.rest(poller, this.forget);
  }

  fire(timer: number): readonly ServerEffect[] | undefined {
    return this.memory.fired(timer, this.forget);
  }

  get keys(): readonly string[] {
    return [...this.memory].map(({ key }) => key);
  }
}

const sweep = (timer: number): ServerEffect => ({ kind: "start-timer", timer, ms: 150_000 });
const cancelled = (poller: Poller): ServerEffect => ({ kind: "cancel-timer", timer: poller.id });
/** Pollers whose ids begin with the same letter are of one account; `i`: of an identity. */
const accountOf: PollerLimits["accountOf"] = ({ address }) => ({
  key: address.slice(0, 1),
  by: address.startsWith("i") ? "identity" : "address",
});

function pollerAt(address: string, id: number, polled = polledNames()): Poller {
  const poller = pollerOf(id, `${address}${id}`, polled);
  poller.peer = { ...poller.peer, address };
  return poller;
}

describe("S-RST-12: the pollers that are remembered", () => {
  test("are known by their key", () => {
    const [a, b] = pollers("a", "b");
    const all = new Remembered();
    expect([all.add(a), all.add(b)]).toEqual([[sweep(1)], []]);
    expect([all.memory.seen("a") === a, all.memory.seen("x"), all.keys]).toEqual([true, undefined, ["a", "b"]]);
  });

  test("are those whose last poll ended last, within the limit; one that polls costs nothing, and stays", () => {
    const [a, b, c, d] = pollers("a", "b", "c", "d");
    const all = new Remembered({ maxPollerBytes: 2 * a.bytes });
    for (const one of [a, b]) all.add(one);
    expect(all.memory.bytes).toBe(2 * a.bytes);
    all.memory.seen("a");
    expect(all.memory.bytes).toBe(b.bytes);
    all.memory.add(d);
    expect([all.add(c), all.keys]).toEqual([[], ["a", "b", "d", "c"]]);
    expect([all.rest(a), all.keys]).toEqual([[cancelled(b)], ["a", "d", "c"]]);
    expect([all.rest(d), all.keys, all.forgotten]).toEqual([[cancelled(c)], ["a", "d"], ["b", "c"]]);
  });

  test("have names that cost once where several ask for the same, and again in another view", () => {
    const [a, b, c] = pollers("a", "b", "c");
    const [two, others] = [polledNames("1", "2"), polledNames("1", "2")];
    for (const one of [a, b]) one.polled = two;
    const all = new Remembered({ maxPollerBytes: 3 * a.bytes + 2 * two.bytes });
    for (const one of [a, b]) all.add(one);
    expect([all.memory.bytes, two.bytes]).toEqual([2 * a.bytes + two.bytes, 2 * (128 + 1)]);
    b.polled = others;
    expect(all.memory.moved(b, all.forget)).toEqual([]);
    expect(all.memory.bytes).toBe(2 * (a.bytes + two.bytes));
    c.polled = polledNames("3");
    expect([all.add(c), all.memory.bytes]).toEqual([[cancelled(a)], 2 * a.bytes + two.bytes + c.polled.bytes]);
    expect(all.memory.moved(a, all.forget)).toEqual([]);
  });

  test("of one account push out each other first, and then the oldest of all", () => {
    const each = pollerAt("x", 1).bytes;
    const all = new Remembered({
      accountOf,
      maxPollerBytes: 4 * each,
      maxPollerBytesPerPeer: 2 * each,
      maxPollerBytesPerIdentity: each,
    });
    all.add(pollerAt("y", 4));
    for (const id of [1, 2, 3]) all.add(pollerAt("x", id));
    expect([all.keys, all.forgotten]).toEqual([["y4", "x2", "x3"], ["x1"]]);
    for (const id of [5, 6]) all.add(pollerAt("i", id));
    expect([all.keys, all.forgotten]).toEqual([
      ["y4", "x2", "x3", "i6"],
      ["x1", "i5"],
    ]);
    all.add(pollerAt("z", 7));
    expect(all.keys).toEqual(["x2", "x3", "i6", "z7"]);
    expect(all.evictions).toEqual([
      {
        limit: "maxPollerBytesPerPeer",
        address: "x",
        message: `the remembered pollers of this address take more than ${2 * each} bytes (maxPollerBytesPerPeer)`,
      },
      {
        limit: "maxPollerBytesPerIdentity",
        address: "i",
        message: `the remembered pollers of this identity take more than ${each} bytes (maxPollerBytesPerIdentity)`,
      },
      {
        limit: "maxPollerBytes",
        address: "z",
        message: `the remembered pollers of this server take more than ${4 * each} bytes (maxPollerBytes)`,
      },
    ]);
  });

  test("do not give way to one that takes too much by itself", () => {
    const [a, b, c] = pollers("a", "b", "c");
    const all = new Remembered({ maxPollerBytes: 3 * a.bytes });
    for (const one of [a, b]) all.add(one);
    c.polled = polledNames("n".repeat(10_000));
    expect([all.add(c), all.keys, all.memory.bytes]).toEqual([[cancelled(c)], ["a", "b"], 2 * a.bytes]);
  });

  test("are forgotten after two periods in a row without a poll, and are not while they poll", () => {
    const [a, b, c] = pollers("a", "b", "c");
    const all = new Remembered();
    for (const one of [a, b]) all.add(one);
    all.memory.add(c);
    expect([all.fire(9), all.fire(1), all.keys]).toEqual([undefined, [sweep(2)], ["a", "b", "c"]]);
    all.memory.seen("a");
    all.rest(a);
    expect([all.fire(2), all.keys]).toEqual([
      [cancelled(b), sweep(3)],
      ["a", "c"],
    ]);
    expect([all.fire(2), all.fire(3), all.keys]).toEqual([undefined, [cancelled(a)], ["c"]]);
    expect([all.rest(c), all.fire(4), all.fire(5), all.keys]).toEqual([[sweep(4)], [sweep(5)], [cancelled(c)], []]);
    expect(all.evictions).toEqual([undefined, undefined, undefined]);
    expect(all.add(a)).toEqual([sweep(6)]);
  });
});

/** Who polls or ends a poll, for which names, or is mapped to another view of them; or time passes. */
const step = fc.record({
  kind: fc.constantFrom("poll" as const, "poll" as const, "end" as const, "move" as const, "sweep" as const),
  who: fc.nat(5),
  names: fc.nat(2),
});

test("what is remembered costs the sum of its parts, and never more than the limits", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 20_000 }), (steps, most) => {
      const limits = { maxPollerBytes: most, maxPollerBytesPerPeer: most / 2, maxPollerBytesPerIdentity: most / 3 };
      const all = new Remembered({ accountOf, ...limits });
      const polls = [polledNames(), polledNames("1", "2"), polledNames("n".repeat(2_000))];
      const polling = new Set<Poller>();
      for (const { kind, who, names } of steps) {
        const [address, polled] = [["x", "y", "i"][who % 3] ?? "", polls[names] ?? polledNames()];
        const known = [...all.memory].find(({ key }) => key === `${address}${who}`);
        if (kind === "poll") {
          const poller = known ?? pollerAt(address, who, polled);
          if (known === undefined) all.memory.add(poller);
          else all.memory.seen(known.key);
          polling.add(poller);
        } else if (kind === "end" && known !== undefined && polling.delete(known)) {
          all.rest(known);
        } else if (kind === "move" && known !== undefined) {
          known.polled = polled;
          all.memory.moved(known, all.forget);
        } else if (kind === "sweep") {
          for (let timer = 1; timer < 100; timer++) if (all.fire(timer) !== undefined) break;
        }
        const resting = [...all.memory].filter((poller) => !polling.has(poller));
        expect(all.memory.bytes).toBe(costOf(resting));
        expect(all.memory.bytes).toBeLessThanOrEqual(most);
        for (const of of ["x", "y", "i"]) {
          const ofAccount = costOf(resting.filter(({ peer }) => peer.address === of));
          expect(ofAccount).toBeLessThanOrEqual(of === "i" ? most / 3 : most / 2);
        }
      }
    }),
  );
});

/** Each poller, and what they ask for, each once. */
function costOf(resting: readonly Poller[]): number {
  const polled = new Set<PolledSubscription>(resting.map((poller) => poller.polled));
  return [...resting, ...polled].reduce((sum, { bytes }) => sum + bytes, 0);
}

test("a key tells pollers apart by node, host, certificate, type and names, not by port", () => {
  const { memory } = new Remembered();
  const peer = { address: "10.0.0.1:1", isLoopback: false, isTls: true, names: [] };
  const certificate = { commonName: "c", uris: ["u"], dnsNames: ["d"], validTo: new Date(0) };
  const keyOf = (id: string, other: Partial<Parameters<PollerMemory["keyOf"]>[1]>, names = polledNames("a")): string =>
    memory.keyOf(node(id), { ...peer, ...other }, names);
  const keys = [
    keyOf("n", {}),
    keyOf("m", {}),
    keyOf("n", { address: "10.0.0.2:1" }),
    keyOf("n", { isLoopback: true }),
    keyOf("n", { certificate }),
    keyOf("n", { certificate: { ...certificate, uris: [] } }),
    keyOf("n", { certificate: { ...certificate, dnsNames: [] } }),
    keyOf("n", { certificate: { ...certificate, commonName: "x" } }),
    keyOf("n", { certificate: { ...certificate, commonName: undefined, uris: [], dnsNames: [] } }),
    keyOf("n", {}, polledNames("b")),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf("n", { address: "10.0.0.1:2" })).toBe(keys[0]);
});
