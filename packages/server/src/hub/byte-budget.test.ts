import type { Account } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { accountOf } from "./account.ts";
import { ByteBudget } from "./byte-budget.ts";

const LIMITS = { maxReceivedBytesPerPeer: 10, maxReceivedBytesPerIdentity: 10 };
const at = (address: string): Account => accountOf({ address });
const as = (uri: string): Account =>
  accountOf({ address: "a:1", certificate: { commonName: undefined, uris: [uri], dnsNames: [], validTo: new Date() } });

test("one address may hold so much, and all together", () => {
  const budget = new ByteBudget({ ...LIMITS, maxReceivedBytes: 15 });
  const [first, second, other] = ["[::1]:1", "[::1]:2", "127.0.0.1:3"].map((address) => budget.open(at(address)));
  expect(first?.hold(6)).toBeUndefined();
  expect(second?.hold(5)?.limit).toBe("maxReceivedBytesPerPeer");
  expect(second?.hold(4)).toBeUndefined();
  expect(other?.hold(6)?.limit).toBe("maxReceivedBytes");
  expect(other?.hold(5)).toBeUndefined();
  expect([budget.held, budget.accounts]).toEqual([15, 2]);
});

test("who holds less may always do so, and is forgotten at the end", () => {
  const budget = new ByteBudget({ ...LIMITS, maxReceivedBytes: 10 });
  const held = budget.open(at("a:1"));
  held.hold(10);
  expect(held.hold(11)?.status.message).toBe(
    "requests that are not read to their end hold more than 10 bytes from this address (maxReceivedBytesPerPeer)",
  );
  expect(budget.held).toBe(10);
  expect([held.hold(3), budget.held]).toEqual([undefined, 3]);
  expect([held.hold(0), budget.held, budget.accounts]).toEqual([undefined, 0, 0]);
});

test("identities at one address are counted apart", () => {
  const budget = new ByteBudget({ ...LIMITS, maxReceivedBytes: 100 });
  const [one, again, other] = ["spiffe://a", "spiffe://a", "spiffe://b"].map((uri) => budget.open(as(uri)));
  expect(one?.hold(10)).toBeUndefined();
  expect(again?.hold(1)?.status.message).toBe(
    "requests that are not read to their end hold more than 10 bytes from this identity (maxReceivedBytesPerIdentity)",
  );
  expect([other?.hold(10), budget.open(at("a:1")).hold(10), budget.accounts]).toEqual([undefined, undefined, 3]);
});
