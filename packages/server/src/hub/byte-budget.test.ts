import { expect, test } from "vitest";
import { ByteBudget } from "./byte-budget.ts";

test("one address may hold so much, and all together", () => {
  const budget = new ByteBudget({ maxReceivedBytesPerPeer: 10, maxReceivedBytes: 15 });
  const [first, second, other] = ["[::1]:1", "[::1]:2", "127.0.0.1:3"].map((address) => budget.open(address));
  expect(first?.hold(6)).toBeUndefined();
  expect(second?.hold(5)?.limit).toBe("maxReceivedBytesPerPeer");
  expect(second?.hold(4)).toBeUndefined();
  expect(other?.hold(6)?.limit).toBe("maxReceivedBytes");
  expect(other?.hold(5)).toBeUndefined();
  expect([budget.held, budget.peers]).toEqual([15, 2]);
});

test("who holds less may always do so, and is forgotten at the end", () => {
  const budget = new ByteBudget({ maxReceivedBytesPerPeer: 10, maxReceivedBytes: 10 });
  const held = budget.open("a:1");
  held.hold(10);
  expect(held.hold(11)?.status.message).toBe(
    "requests that are not read to their end hold more than 10 bytes from this address (maxReceivedBytesPerPeer)",
  );
  expect(budget.held).toBe(10);
  expect([held.hold(3), budget.held]).toEqual([undefined, 3]);
  expect([held.hold(0), budget.held, budget.peers]).toEqual([undefined, 0, 0]);
});
