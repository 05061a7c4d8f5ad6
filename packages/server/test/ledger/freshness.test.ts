import { describe, expect, test } from "vitest";
import type { ArrivingClient } from "../../src/hub/catch-up-gate.ts";
import { StoreFreshness, type UncheckedReason } from "../../src/ledger/freshness.ts";
import { SharedLedger } from "./support/shared-ledger.ts";

const limits = { waitsMs: 30, waitsForStoreMs: 60, looksEveryMs: 5 };
const clients = { unknown: client(false), known: client(true) };

function client(isKnown: boolean): ArrivingClient {
  return { bringsVersions: true, isKnown: () => isKnown };
}

/** A server that has nothing in force, and follows a store that stays as it is. */
function follow(outage: "told" | "silent"): { readonly freshness: StoreFreshness; readonly told: UncheckedReason[] } {
  const store = new SharedLedger().connect();
  if (outage === "told") store.cut();
  else store.delay = () => new Promise(() => undefined);
  const told: UncheckedReason[] = [];
  const whenInForce = (): Promise<void> => Promise.resolve();
  const publisher = { store, number: 0, stop: undefined, whenInForce };
  return { freshness: new StoreFreshness(publisher, (reason) => told.push(reason), limits), told };
}

describe("a client is served unchecked, and counted,", () => {
  test("after a limited time, while the store is away", async () => {
    const { freshness, told } = follow("told");
    const began = performance.now();
    await Promise.all([freshness.check(clients.unknown), freshness.check(clients.unknown)]);
    expect(told).toEqual(["away", "away"]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(limits.waitsForStoreMs);
  });

  test("at once, while the store is away and it has nothing that is not known", () => {
    const { freshness, told } = follow("told");
    expect(freshness.check(clients.known)).toBeUndefined();
    expect(told).toEqual(["away"]);
  });

  test("after a limited time, while the store does not answer", async () => {
    const { freshness, told } = follow("silent");
    await freshness.check(clients.known);
    expect(told).toEqual(["timeout"]);
    await freshness.check(clients.unknown);
    expect(told).toEqual(["timeout", "timeout"]);
  });
});
