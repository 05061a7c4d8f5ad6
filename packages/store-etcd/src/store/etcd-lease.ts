import type { HeldLease, LedgerLease } from "@xdskit/server/ledger-store";
import type { EtcdClient } from "../client/etcd-client.ts";
import type { Keys } from "../layout/keys.ts";
import type { Compare } from "../wire/messages.ts";
import { pause, withinAMoment } from "./head-follower.ts";

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
  readonly #attempts = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(client: EtcdClient, keys: Keys) {
    this.#client = client;
    this.#keys = keys;
  }

  lease(name: string): LedgerLease {
    return {
      acquire: async (given) => {
        const signal = AbortSignal.any([given, this.#closing.signal]);
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

  /** Undefined: another one holds it, or this is closed. Rejects if etcd does not answer. */
  async tryAcquire(name: string): Promise<HeldLease | undefined> {
    if (this.#closing.signal.aborted) return undefined;
    const attempt = this.#tryAcquire(name);
    this.#attempts.add(attempt);
    try {
      return await attempt;
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  async #tryAcquire(name: string): Promise<HeldLease | undefined> {
    const key = this.#keys.lease(name);
    const isFree: Compare = { key, createRevision: 0n };
    // Granting costs a write, asking does not.
    const { succeeded } = await this.#client.transaction({ compare: [isFree], success: [] });
    if (!succeeded) return undefined;
    const askedAt = performance.now();
    const id = await this.#client.grantLease(TTL_SECONDS);
    const createRevision = await this.#take(key, id).catch(async (cause: unknown) => {
      await this.#revoke(id);
      throw cause;
    });
    if (createRevision !== undefined && !this.#closing.signal.aborted)
      return this.#hold(id, `${createRevision}:${name}`, askedAt);
    await this.#revoke(id);
    return undefined;
  }

  /** Makes the key. Resolves to its revision; undefined: another lease has it. */
  async #take(key: string, id: bigint): Promise<bigint | undefined> {
    const value = Buffer.from(String(id));
    const taken = await this.#client.transaction({
      compare: [{ key, createRevision: 0n }],
      success: [{ put: key, value, lease: id }, { range: { key } }],
      failure: [{ range: { key } }],
    });
    // An attempt whose answer was lost may have made the key.
    const kv = taken.found.at(-1)?.[0];
    return kv?.value.equals(value) === true ? kv.createRevision : undefined;
  }

  async #revoke(id: bigint): Promise<void> {
    await this.#client.revokeLease(id).catch(() => undefined);
  }

  /** True while the lease with this token is held, as a condition of a transaction. */
  condition(token: string): Compare {
    const [, revision = "-1", name = ""] = /^(\d+):(.*)$/s.exec(token) ?? [];
    return { key: this.#keys.lease(name), createRevision: BigInt(revision) };
  }

  /** Releases what is held, and waits a moment for what is being acquired. */
  async close(): Promise<void> {
    this.#closing.abort();
    await withinAMoment(Promise.allSettled(this.#attempts));
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
        await this.#revoke(id);
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
