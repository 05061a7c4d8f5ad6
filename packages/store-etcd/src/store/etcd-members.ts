import type { StoreMembers } from "@xdskit/server/ledger-store";
import { type EtcdClient, EtcdError } from "../client/etcd-client.ts";
import { endOf, type Keys } from "../layout/keys.ts";
import type { Seal } from "../layout/seal.ts";
import { pause } from "./head-follower.ts";

/** How long etcd keeps what a process told that is gone. */
const TTL_SECONDS = 15;
const RENEWED_EVERY_MS = 5_000;
/** How long a process that ends waits for etcd to let go of what it told. */
const WITHDRAWN_WITHIN_MS = 1_000;
const READ_AT_ONCE = 500;

/** What processes tell of themselves, each under a key that goes with its lease. */
export class EtcdMembers implements StoreMembers {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #seal: Seal;
  readonly #closing = new AbortController();
  #lease: bigint | undefined;
  #told: { readonly id: string; readonly text: string } | undefined;
  #renewing: Promise<void> | undefined;

  constructor(client: EtcdClient, keys: Keys, seal: Seal) {
    this.#client = client;
    this.#keys = keys;
    this.#seal = seal;
  }

  async announce(id: string, text: string): Promise<void> {
    this.#lease ??= await this.#client.grantLease(TTL_SECONDS);
    const lease = this.#lease;
    this.#renewing ??= this.#renewOn();
    const key = this.#keys.member(id);
    this.#told = { id, text };
    try {
      const value = this.#seal.close(Buffer.from(text), key);
      await this.#client.transaction({ success: [{ put: key, value, lease }] });
    } catch (cause) {
      // Then there is a new one the next time.
      if (cause instanceof EtcdError && cause.isLeaseGone) this.#lease = undefined;
      throw cause;
    }
  }

  async list(): Promise<ReadonlyMap<string, string>> {
    const told = new Map<string, string>();
    let key = this.#keys.members;
    for (let more = true; more; ) {
      const page = await this.#client.range({ key, end: endOf(this.#keys.members), limit: READ_AT_ONCE });
      for (const kv of page.kvs)
        told.set(kv.key.slice(this.#keys.members.length), this.#seal.open(kv.value, kv.key).toString("utf8"));
      more = page.more;
      key = `${page.kvs.at(-1)?.key}\0`;
    }
    return told;
  }

  /** Waits for etcd a moment only; `ended` resolves once the client is closed. */
  async close(): Promise<void> {
    this.#closing.abort();
    const lease = this.#lease;
    if (lease === undefined) return;
    const over = new AbortController();
    const revoked = this.#client.revokeLease(lease).catch(() => undefined);
    await Promise.race([revoked, pause(WITHDRAWN_WITHIN_MS, over.signal)]);
    over.abort();
  }

  get ended(): Promise<void> | undefined {
    return this.#renewing;
  }

  async #renewOn(): Promise<void> {
    const { signal } = this.#closing;
    while (await pause(RENEWED_EVERY_MS, signal)) {
      const lease = this.#lease;
      const isThere = lease === undefined ? false : await this.#client.renewLease(lease).catch(() => undefined);
      if (isThere !== false || signal.aborted || this.#told === undefined) continue;
      this.#lease = undefined;
      await this.announce(this.#told.id, this.#told.text).catch(() => undefined);
    }
  }
}
