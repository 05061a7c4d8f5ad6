import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Peer } from "../../node/node-mapping.ts";
import type { Account } from "../contract/stream-limits.ts";
import { AccountSubscriptions } from "./account-subscriptions.ts";

const peerOf = (address: string): Peer => ({ address, isLoopback: false, isTls: false, names: [] });

function start(): AccountSubscriptions {
  return new AccountSubscriptions({
    accountOf: ({ address }) => ({ key: address, by: address.startsWith("id") ? "identity" : "address" }),
    maxSubscriptionsPerPeer: 10,
    maxSubscriptionsPerIdentity: 5,
  });
}

describe("names subscribed to by account", () => {
  test("count over all streams of the account, and only what grows exceeds the limit", () => {
    const counted = start();
    expect([counted.set(1, peerOf("a"), 6), counted.set(2, peerOf("b"), 9), counted.set(3, peerOf("a"), 4)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(counted.set(3, peerOf("a"), 5)).toEqual({
      limit: "maxSubscriptionsPerPeer",
      message: "the streams of this address subscribe to 11 names; at most 10 are served",
    });
    expect(counted.set(1, peerOf("a"), 5)).toBe(undefined);
    expect(counted.set(4, peerOf("id"), 6)?.limit).toBe("maxSubscriptionsPerIdentity");
  });

  test("may be any number where there is no limit, or nobody says whose they are", () => {
    const accountOf = ({ address: key }: Peer): Account => ({ key, by: "address" });
    const counted = [new AccountSubscriptions({ accountOf }), new AccountSubscriptions({ maxSubscriptionsPerPeer: 1 })];
    expect(counted.map((one) => [one.set(1, peerOf("a"), 99), one.accounts])).toEqual([
      [undefined, 1],
      [undefined, 0],
    ]);
  });

  test("may shrink while there are too many", () => {
    const counted = start();
    counted.set(1, peerOf("a"), 10);
    counted.set(2, peerOf("a"), 10);
    expect([counted.set(2, peerOf("a"), 9), counted.set(2, peerOf("a"), 10)?.limit]).toEqual([
      undefined,
      "maxSubscriptionsPerPeer",
    ]);
  });

  test("equal the sum over the open streams after any steps, and nothing is left when all are gone", () => {
    const step = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 5 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const counted = start();
        const open = new Map<number, number>();
        for (const [stream, names, ends] of steps) {
          const address = `host${stream % 2}`;
          if (ends) {
            open.delete(stream);
            counted.forget(stream);
            continue;
          }
          const grows = names > (open.get(stream) ?? 0);
          open.set(stream, names);
          const sum = [...open].filter(([one]) => one % 2 === stream % 2).reduce((total, [, n]) => total + n, 0);
          expect(counted.set(stream, peerOf(address), names) !== undefined).toBe(grows && sum > 10);
        }
        for (const stream of open.keys()) counted.forget(stream);
        expect(counted.accounts).toBe(0);
      }),
    );
  });
});
