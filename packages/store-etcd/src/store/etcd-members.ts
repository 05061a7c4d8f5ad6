import type { StoreMembers } from "@xdskit/server/ledger-store";
import { type EtcdClient, EtcdError } from "../client/etcd-client.ts";
import { endOf, type Keys } from "../layout/keys.ts";
import type { Seal } from "../layout/seal.ts";
import type { Operation } from "../wire/messages.ts";
import { pause, withinAMoment } from "./head-follower.ts";

/** How long etcd keeps what a process told that is gone. */
const TTL_SECONDS = 15;
const RENEWED_EVERY_MS = 5_000;
/** How long etcd keeps, of a process that is gone without a word, that there was one. */
const KEPT_SECONDS = 3_600;
const KEPT_RENEWED_EVERY_MS = 300_000;
const READ_AT_ONCE = 500;

/** What each process tells of itself, under a key that goes soon after it, and one by which its loss is known. */
export class EtcdMembers implements StoreMembers {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #seal: Seal;
  readonly #closing = new AbortController();
  #lease: bigint | undefined;
  #keptLease: bigint | undefined;
  #keptRenewedAt = 0;
  #told: { readonly id: string; readonly text: string } | undefined;
  #renewing: Promise<void> | undefined;
  /** The last of what is being told: one after the other, so the newest stays. */
  #telling: Promise<void> = Promise.resolve();

  constructor(client: EtcdClient, keys: Keys, seal: Seal) {
    this.#client = client;
    this.#keys = keys;
    this.#seal = seal;
  }

  announce(id: string, text: string): Promise<void> {
    const told = this.#telling.then(() => this.#announce(id, text));
    this.#telling = told.catch(() => undefined);
    return told;
  }

  async #announce(id: string, text: string): Promise<void> {
    if (this.#closing.signal.aborted) throw new Error("the ledger is closed");
    this.#lease ??= await this.#client.grantLease(TTL_SECONDS);
    if (this.#keptLease === undefined) {
      this.#keptLease = await this.#client.grantLease(KEPT_SECONDS);
      this.#keptRenewedAt = performance.now();
    }
    this.#renewing ??= this.#renewOn();
    this.#told = { id, text };
    const put = (key: string, lease: bigint): Operation => {
      return { put: key, value: this.#seal.close(Buffer.from(text), key), lease };
    };
    try {
      const success = [put(this.#keys.member(id), this.#lease), put(this.#keys.keptMember(id), this.#keptLease)];
      await this.#client.transaction({ success });
    } catch (cause) {
      // Then there is a new one the next time.
      if (cause instanceof EtcdError && cause.isLeaseGone) await this.#forgetLost();
      throw cause;
    }
  }

  async #forgetLost(): Promise<void> {
    const isGone = async (lease: bigint | undefined): Promise<boolean> =>
      lease !== undefined && (await this.#client.renewLease(lease).catch(() => undefined)) === false;
    if (await isGone(this.#lease)) this.#lease = undefined;
    if (await isGone(this.#keptLease)) this.#keptLease = undefined;
  }

  list(): Promise<ReadonlyMap<string, string>> {
    return this.#read(this.#keys.members);
  }

  listKept(): Promise<ReadonlyMap<string, string>> {
    return this.#read(this.#keys.keptMembers);
  }

  async #read(prefix: string): Promise<ReadonlyMap<string, string>> {
    const told = new Map<string, string>();
    let key = prefix;
    for (let more = true; more; ) {
      const page = await this.#client.range({ key, end: endOf(prefix), limit: READ_AT_ONCE });
      for (const kv of page.kvs)
        told.set(kv.key.slice(prefix.length), this.#seal.open(kv.value, kv.key).toString("utf8"));
      more = page.more;
      key = `${page.kvs.at(-1)?.key}\0`;
    }
    return told;
  }

  /** Waits for etcd a moment only; `ended` resolves once the client is closed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await withinAMoment(this.#telling);
    // The kept one first: what is left by an end in between is not taken for a loss.
    const leases = [this.#keptLease, this.#lease].flatMap((lease) => lease ?? []);
    if (leases.length === 0) return;
    await withinAMoment(Promise.all(leases.map((lease) => this.#client.revokeLease(lease).catch(() => undefined))));
  }

  get ended(): Promise<void> | undefined {
    return this.#renewing;
  }

  async #renewOn(): Promise<void> {
    const { signal } = this.#closing;
    while (await pause(RENEWED_EVERY_MS, signal)) {
      const lease = this.#lease;
      const isThere = lease === undefined ? false : await this.#client.renewLease(lease).catch(() => undefined);
      await this.#renewKept();
      if (isThere !== false || signal.aborted || this.#told === undefined) continue;
      this.#lease = undefined;
      await this.announce(this.#told.id, this.#told.text).catch(() => undefined);
    }
  }
  async #renewKept(): Promise<void> {
    const lease = this.#keptLease;
    const now = performance.now();
    if (lease === undefined || now - this.#keptRenewedAt < KEPT_RENEWED_EVERY_MS) return;
    const isThere = await this.#client.renewLease(lease).catch(() => undefined);
    if (isThere === true) this.#keptRenewedAt = now;
  }
}
