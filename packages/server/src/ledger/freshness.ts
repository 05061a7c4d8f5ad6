import { setTimeout as delay } from "node:timers/promises";
import type { ArrivingClient } from "../hub/catch-up-gate.ts";
import { SharedQuestion } from "../shared-question.ts";
import type { Publisher } from "./publisher.ts";

/** How long a client waits for the newest state, in milliseconds. */
const WAITS_MS = 10_000;
/** How long one waits in all that may have something newer, while the store cannot be asked. */
const WAITS_FOR_STORE_MS = 60_000;
/** How often it is looked whether the store is back: not every end of an outage is told. */
const LOOKS_EVERY_MS = 1_000;

/** What is asked of the publisher. */
export type FollowedStore = Pick<Publisher, "number" | "stop" | "whenInForce"> & {
  readonly store: Pick<Publisher["store"], "head" | "outage" | "onOutage" | "refresh" | "copy">;
};

/** Why a client was served although there may be a newer state. */
export type UncheckedReason = "away" | "timeout";

/**
 * Sees to it that a client that comes from another server is not set back: versions are digests and have no order, so the
 * store is asked how far it is. Who comes while it is being asked shares the next answer. While it cannot be asked, a
 * client is served that has nothing, or nothing but what this server has or had; any other one may have something newer,
 * and waits with what it has.
 */
export class StoreFreshness {
  readonly #publisher: FollowedStore;
  readonly #onUnchecked: (reason: UncheckedReason) => void;
  readonly #head: SharedQuestion<unknown>;
  readonly #waitsForStoreMs: number;
  #changed: Promise<void> | undefined;

  /** `waitsForStoreMs`: how long a client waits that may have something newer, while the store cannot be asked. */
  constructor(
    publisher: FollowedStore,
    onUnchecked: (reason: UncheckedReason) => void,
    waitsForStoreMs: number = WAITS_FOR_STORE_MS,
  ) {
    this.#waitsForStoreMs = waitsForStoreMs;
    this.#publisher = publisher;
    this.#onUnchecked = onUnchecked;
    this.#head = new SharedQuestion(async () => await publisher.store.refresh?.());
  }

  /** Undefined: nothing newer is known, and nobody has to be asked. */
  check(client: ArrivingClient): Promise<void> | undefined {
    const { store, number } = this.#publisher;
    // A copy may be older than what any other server serves.
    const isBehind = store.head.number > number || store.copy?.isInPlace === true;
    if (store.refresh === undefined || (!client.bringsVersions && !isBehind)) return undefined;
    if (!this.#isAway) return this.#ask(client);
    if (mayBeAhead(client)) return this.#whenBack(client, "away");
    this.#onUnchecked("away");
    return undefined;
  }

  /** Nothing of the store can come in force. */
  get #isAway(): boolean {
    const { store, stop } = this.#publisher;
    return store.outage !== undefined || stop !== undefined;
  }

  async #ask(client: ArrivingClient): Promise<void> {
    const asked = client.bringsVersions;
    let failed = await this.#within(WAITS_MS, asked);
    // A request that came meanwhile may bring what the first did not.
    if (failed === undefined && !asked && client.bringsVersions) failed = await this.#within(WAITS_MS, true);
    if (failed === undefined) return;
    if (mayBeAhead(client)) await this.#whenBack(client, failed);
    else this.#onUnchecked(failed);
  }

  /** Asks again as soon as the store is back, for a limited time, or as long as the client is there. */
  async #whenBack(client: ArrivingClient, reason: UncheckedReason): Promise<void> {
    const until = performance.now() + this.#waitsForStoreMs;
    let failed: UncheckedReason | undefined = reason;
    while (client.bringsVersions) {
      await this.#whenChanged();
      const left = Math.ceil(until - performance.now());
      if (left <= 0) {
        this.#onUnchecked(failed);
        return;
      }
      if (!this.#isAway) failed = await this.#within(Math.min(WAITS_MS, left), true);
      if (failed === undefined) return;
    }
  }

  /** Resolves when an outage begins or ends, or after some time. */
  #whenChanged(): Promise<void> {
    this.#changed ??= this.#waitForChange().finally(() => {
      this.#changed = undefined;
    });
    return this.#changed;
  }

  async #waitForChange(): Promise<void> {
    const changed = new AbortController();
    const stop = this.#publisher.store.onOutage?.(() => changed.abort());
    await delay(LOOKS_EVERY_MS, undefined, { signal: changed.signal, ref: false }).catch(() => undefined);
    stop?.();
  }

  /** Waits until what the store has is in force; why it is not in time. */
  async #within(ms: number, asks: boolean): Promise<UncheckedReason | undefined> {
    const timeout = AbortSignal.timeout(ms);
    let isOver = false;
    const over = new Promise<void>((resolve) => {
      timeout.addEventListener("abort", () => {
        isOver = true;
        resolve();
      });
    });
    try {
      await Promise.race([asks ? this.#head.ask() : undefined, over]);
      await this.#publisher.whenInForce(this.#publisher.store.head.number, timeout);
      return isOver ? "timeout" : undefined;
    } catch {
      return "away";
    }
  }
}

/** Whether a client may have something that is newer than all that this server had. */
function mayBeAhead(client: ArrivingClient): boolean {
  return client.bringsVersions && !client.isKnown();
}
