import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Peer } from "../../node/node-mapping.ts";
import type { Account } from "../contract/stream-limits.ts";
import { AccountUsage, clientBytes, subscribedNames } from "./account-usage.ts";

const peerOf = (address: string): Peer => ({ address, isLoopback: false, isTls: false, names: [] });

function start(): AccountUsage {
  return new AccountUsage(subscribedNames, {
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
      message: "the streams of this address hold 11 names; at most 10 are served (maxSubscriptionsPerPeer)",
    });
    expect(counted.set(1, peerOf("a"), 5)).toBe(undefined);
    expect(counted.set(4, peerOf("id"), 6)?.limit).toBe("maxSubscriptionsPerIdentity");
  });

  test("may be any number where there is no limit, or nobody says whose they are", () => {
    const accountOf = ({ address: key }: Peer): Account => ({ key, by: "address" });
    const counted = [{ accountOf }, { maxSubscriptionsPerPeer: 1 }].map(
      (limits) => new AccountUsage(subscribedNames, limits),
    );
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

describe("memory of clients", () => {
  test("counts for the account first, then for the server, also where nobody says whose it is", () => {
    const accountOf = ({ address: key }: Peer): Account => ({ key, by: "address" });
    const limits = { maxClientBytes: 15, maxClientBytesPerPeer: 10 };
    const [known, unknown] = [
      new AccountUsage(clientBytes, { accountOf, ...limits }),
      new AccountUsage(clientBytes, limits),
    ];
    const message = "what the streams and polls of this";
    expect([known.set(1, peerOf("a"), 10), known.set(2, peerOf("b"), 6), known.set(3, peerOf("a"), 1)]).toEqual([
      undefined,
      {
        limit: "maxClientBytes",
        message: `${message} server say of themselves takes 16 bytes of memory; at most 15 are served (maxClientBytes)`,
      },
      {
        limit: "maxClientBytesPerPeer",
        message: `${message} address say of themselves takes 11 bytes of memory; at most 10 are served (maxClientBytesPerPeer)`,
      },
    ]);
    expect([unknown.set(1, peerOf("a"), 15), unknown.set(2, peerOf("a"), 1)?.limit]).toEqual([
      undefined,
      "maxClientBytes",
    ]);
    for (const id of [1, 2, 3]) known.forget(id);
    expect([known.inAll, known.accounts]).toEqual([0, 0]);
  });
});
