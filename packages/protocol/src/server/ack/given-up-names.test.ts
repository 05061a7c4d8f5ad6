import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { Body } from "../../message/body.ts";
import { Subscription } from "../subscription/subscription.ts";
import { Deliveries, type Delivery, type RefusalMemory } from "./delivery.ts";
import { GivenUpNames } from "./given-up-names.ts";

describe("names that a client gave up", () => {
  const kept = [new Set(["a", "b"]), new Set(["b", "c"])];

  test("count if a response refers to them, each for as many as it is long", () => {
    const names = new GivenUpNames();
    names.add(["b", "c", "d"], kept, 1);
    expect(names.counted).toBe(2);
    const long = "l".repeat(257);
    names.add([long], [new Set([long])], 1);
    expect(names.counted).toBe(4);
    names.add(["a"], [], 1);
    expect(names.counted).toBe(4);
  });

  test("count until the newest response is gone that refers to them, and all before it", () => {
    const names = new GivenUpNames();
    names.add(["a"], kept, 3);
    names.add(["b", "c"], kept, 5);
    const left = [3, 4, 5, Number.POSITIVE_INFINITY].map((oldest) => {
      names.release(oldest);
      return names.counted;
    });
    expect(left).toEqual([3, 2, 2, 0]);
  });
});

/** A client that subscribes to names and is sent responses; each name that it subscribes to anew is another string. */
class Client {
  readonly deliveries: Deliveries;
  readonly #memory: RefusalMemory;
  readonly #subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  /** When each name was subscribed to. */
  readonly #since = new Map<string, number>();
  /** What each unsettled response refers to, oldest first. */
  readonly #sent: { readonly nonce: string; readonly names: ReadonlySet<string> }[] = [];
  /** What the newest response refers to that was rejected as a whole, and the plain names of it. */
  #rejected: { readonly names: ReadonlySet<string>; readonly plain: readonly string[] } | undefined;
  #at = 0;
  #sentAt = 0;
  #sentNames: ReadonlySet<string> = new Set();
  /** Whether all were settled in order, and no name was given up twice since the last response. */
  isExact = true;

  constructor(memory: RefusalMemory) {
    this.#memory = memory;
    this.deliveries = new Deliveries(memory);
  }

  get #held(): ReadonlySet<string> {
    return new Set([...this.#since].map(([name, at]) => `${name}${at}`));
  }

  /** How many names are held by responses alone. */
  get keptByResponses(): number {
    const held = this.#held;
    const isForgiven = this.#rejected?.plain.every((name) => !this.#since.has(name)) === true;
    if (isForgiven) this.#rejected = undefined;
    const referred = new Set(
      [...this.#sent, ...(this.#rejected === undefined ? [] : [this.#rejected])].flatMap(({ names }) => [...names]),
    );
    return [...referred].filter((name) => !held.has(name)).length;
  }

  /** Whether no response is remembered with what it was sent for. */
  get isIdle(): boolean {
    return this.#sent.length === 0 && this.#rejected === undefined;
  }

  turn(name: string): void {
    this.#at++;
    const since = this.#since.get(name);
    if (since !== undefined) {
      this.isExact &&= since < this.#sentAt || !this.#sentNames.has(name);
      this.#since.delete(name);
      const { dropped } = this.#subscription.update([], [name]);
      this.deliveries.forgive(dropped, this.#subscription);
    } else {
      this.#since.set(name, this.#at);
      this.#subscription.update([name], []);
    }
  }

  send(isHeartbeat: boolean): void {
    const at = ++this.#at;
    const nonce = String(at);
    const body: Body = {
      variant: "delta",
      type: CLUSTER,
      version: "v",
      segments: [{ puts: [cluster("server", nonce)], removed: [], missing: [] }],
    };
    const delivery: Delivery = { nonce, body, revision: at, from: undefined, at, isInTurn: false };
    if (isHeartbeat) this.deliveries.open({ ...delivery, isHeartbeat });
    else {
      this.deliveries.open({ ...delivery, asked: this.#subscription.scope });
      this.#sent.push({ nonce, names: this.#held });
      this.#sentAt = at;
      this.#sentNames = new Set(this.#since.keys());
    }
  }

  answer(which: number, accepts: boolean): void {
    const index = which % Math.max(1, this.#sent.length);
    const nonce = this.#sent[index]?.nonce;
    if (nonce === undefined) return;
    if (accepts) {
      this.deliveries.ack(nonce);
      this.#rejected = undefined;
    } else {
      this.deliveries.nack(nonce, { code: 3, message: "no" });
      this.deliveries.forgive([], this.#subscription);
      const names = this.#sent[index]?.names ?? new Set();
      const plain = [...names].map((name) => name.slice(0, 1));
      if (this.#memory === "whole") this.#rejected = { names, plain };
    }
    this.isExact &&= accepts || (index === 0 && this.#memory === "by-name");
    this.#sent.splice(accepts ? 0 : index, accepts ? index + 1 : 1);
    this.deliveries.trim();
  }
}

const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "c").map((name) => (client: Client) => client.turn(name)) },
  { weight: 3, arbitrary: fc.boolean().map((isHeartbeat) => (client: Client) => client.send(isHeartbeat)) },
  {
    weight: 2,
    arbitrary: fc.record({ which: fc.nat(5), accepts: fc.boolean() }).map(
      ({ which, accepts }) =>
        (client: Client) =>
          client.answer(which, accepts),
    ),
  },
);

test("names that only responses hold are counted, and only they where responses are settled in order", () => {
  fc.assert(
    fc.property(fc.constantFrom("by-name", "whole"), fc.array(anyStep, { maxLength: 40 }), (memory, steps) => {
      const client = new Client(memory);
      for (const step of steps) {
        step(client);
        const { keptByResponses, deliveries, isExact } = client;
        const counted = deliveries.namesKept;
        expect(isExact ? counted : Math.min(counted, keptByResponses)).toBe(keptByResponses);
        if (keptByResponses === 0 && client.isIdle) expect(counted).toBe(0);
      }
    }),
    { numRuns: 1_000 },
  );
});
