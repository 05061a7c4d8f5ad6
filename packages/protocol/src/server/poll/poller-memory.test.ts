import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/conversation.ts";
import { polledNames, pollers } from "../../../test/support/pollers.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { Poller } from "./poller.ts";
import { PollerMemory } from "./poller-memory.ts";

/** A memory within limits, which notes whom it forgets and numbers its timers from 1. */
class Remembered {
  readonly memory: PollerMemory;
  readonly forgotten: string[] = [];
  #lastTimer = 0;

  constructor(limits?: { readonly pollers: number; readonly names: number }) {
    this.memory = new PollerMemory(() => ++this.#lastTimer, limits);
  }

  readonly forget = (poller: Poller): readonly ServerEffect[] => {
    this.forgotten.push(poller.key);
    return [{ kind: "cancel-timer", timer: poller.id }];
  };

  add(poller: Poller): readonly ServerEffect[] {
    return this.memory.add(poller, this.forget);
  }

  fire(timer: number): readonly ServerEffect[] | undefined {
    return this.memory.fired(timer, this.forget);
  }

  get keys(): readonly string[] {
    return [...this.memory].map(({ key }) => key);
  }
}

const sweep = (timer: number): ServerEffect => ({ kind: "start-timer", timer, ms: 150_000 });

describe("S-RST-12: the pollers that are remembered", () => {
  test("are known by their key, in order of their last poll", () => {
    const [a, b] = pollers("a", "b");
    const all = new Remembered();
    expect([all.add(a), all.add(b)]).toEqual([[sweep(1)], []]);
    expect([all.memory.seen("a") === a, all.memory.seen("x"), all.keys]).toEqual([true, undefined, ["b", "a"]]);
  });

  test("are those that polled last, within the limit; one with a waiting poll stays, and so does the newest", () => {
    const [a, b, c, d] = pollers("a", "b", "c", "d");
    const all = new Remembered({ pollers: 2, names: 100 });
    a.waiting.add(waitingOf(a));
    for (const one of [a, b]) all.add(one);
    expect([all.add(c), all.keys, all.forgotten]).toEqual([[{ kind: "cancel-timer", timer: b.id }], ["a", "c"], ["b"]]);
    c.waiting.add(waitingOf(c));
    expect([all.add(d), all.keys]).toEqual([[], ["a", "c", "d"]]);
  });

  test("have no more names together than the limit", () => {
    const [a, b, c, d] = pollers("a", "b", "c", "d");
    a.polled = polledNames("1", "2");
    b.polled = polledNames("1", "2", "3");
    c.polled = polledNames("4");
    const all = new Remembered({ pollers: 100, names: 5 });
    for (const one of [a, b]) all.add(one);
    expect(all.keys).toEqual(["a", "b"]);
    all.add(c);
    expect(all.keys).toEqual(["b", "c"]);
    d.polled = polledNames("1");
    all.add(d);
    expect([all.keys, all.forgotten]).toEqual([["b", "c", "d"], ["a"]]);
  });

  test("are forgotten after two periods in a row without a poll, unless a poll waits", () => {
    const [a, b, c] = pollers("a", "b", "c");
    const all = new Remembered();
    for (const one of [a, b, c]) all.add(one);
    expect([all.fire(9), all.fire(1), all.keys]).toEqual([undefined, [sweep(2)], ["a", "b", "c"]]);
    all.memory.seen("a");
    c.waiting.add(waitingOf(c));
    expect(all.fire(2)).toEqual([{ kind: "cancel-timer", timer: b.id }, sweep(3)]);
    expect([all.keys, all.fire(2), all.fire(3)]).toEqual([
      ["c", "a"],
      undefined,
      [{ kind: "cancel-timer", timer: a.id }, sweep(4)],
    ]);
    c.waiting.clear();
    expect([all.fire(4), all.keys, all.fire(4)]).toEqual([[{ kind: "cancel-timer", timer: c.id }], [], undefined]);
    expect(all.add(a)).toEqual([sweep(5)]);
  });
});

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

function waitingOf(poller: Poller): Parameters<Poller["waiting"]["add"]>[0] {
  const nothing = { versionInfo: undefined, besides: undefined, timer: undefined, end: undefined };
  return { id: 1, poller, isRefusal: false, holdMs: 0, ...nothing };
}
