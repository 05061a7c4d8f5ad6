import type { HeldLease, LedgerLease } from "@xdskit/server/ledger-store";
import type { EtcdClient } from "../client/etcd-client.ts";
import type { Keys } from "../layout/keys.ts";
import type { Compare } from "../wire/messages.ts";
import { pause } from "./head-follower.ts";

/** How long etcd keeps a lease that is not renewed. */
const TTL_SECONDS = 10;
const RENEWED_EVERY_MS = 2_500;
/** By this process's clock, before etcd gives the lease to another one. */
const LOST_AFTER_MS = 9_000;
const ASKED_EVERY_MS = 500;

/** Leases of etcd on a key each: who made the key holds the lease. */
export class EtcdLeases {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #held = new Set<HeldLease>();

  constructor(client: EtcdClient, keys: Keys) {
    this.#client = client;
    this.#keys = keys;
  }

  lease(name: string): LedgerLease {
    return {
      acquire: async (signal) => {
        while (!signal.aborted) {
          const held = await this.tryAcquire(name).catch(() => undefined);
          if (held !== undefined && !signal.aborted) return held;
          await held?.release();
          if (!(await pause(ASKED_EVERY_MS * (0.5 + Math.random()), signal))) return undefined;
        }
        return undefined;
      },
    };
  }

  /** Undefined: another one holds it. Rejects if etcd does not answer. */
  async tryAcquire(name: string): Promise<HeldLease | undefined> {
    const key = this.#keys.lease(name);
    const isFree: Compare = { key, createRevision: 0n };
    // Granting costs a write, asking does not.
    const { succeeded } = await this.#client.transaction({ compare: [isFree], success: [] });
    if (!succeeded) return undefined;
    const askedAt = performance.now();
    const id = await this.#client.grantLease(TTL_SECONDS);
    const value = Buffer.from(String(id));
    const taken = await this.#client.transaction({
      compare: [isFree],
      success: [{ put: key, value, lease: id }, { range: { key } }],
      failure: [{ range: { key } }],
    });
    // An attempt whose answer was lost may have made the key.
    const kv = taken.found.at(-1)?.[0];
    if (kv === undefined || !kv.value.equals(value)) {
      await this.#client.revokeLease(id).catch(() => undefined);
      return undefined;
    }
    return this.#hold(id, `${kv.createRevision}:${name}`, askedAt);
  }

  /** True while the lease with this token is held, as a condition of a transaction. */
  condition(token: string): Compare {
    const [, revision = "-1", name = ""] = /^(\d+):(.*)$/s.exec(token) ?? [];
    return { key: this.#keys.lease(name), createRevision: BigInt(revision) };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held].map((held) => held.release()));
  }

  #hold(id: bigint, token: string, askedAt: number): HeldLease {
    const lost = new AbortController();
    const running = this.#renew(id, askedAt, lost);
    const held: HeldLease = {
      token,
      lost: lost.signal,
      release: async () => {
        if (!this.#held.delete(held)) return;
        lost.abort();
        await running;
        await this.#client.revokeLease(id).catch(() => undefined);
      },
    };
    this.#held.add(held);
    return held;
  }

  async #renew(id: bigint, askedAt: number, lost: AbortController): Promise<void> {
    const expire = (from: number): NodeJS.Timeout =>
      setTimeout(() => lost.abort(), Math.max(0, LOST_AFTER_MS - (performance.now() - from)));
    let timer = expire(askedAt);
    while (await pause(RENEWED_EVERY_MS, lost.signal)) {
      const sentAt = performance.now();
      const isThere = await this.#client.renewLease(id).catch(() => undefined);
      if (isThere === false) lost.abort();
      if (isThere !== true || lost.signal.aborted) continue;
      clearTimeout(timer);
      timer = expire(sentAt);
    }
    clearTimeout(timer);
  }
}
