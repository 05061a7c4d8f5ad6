import type { Peer } from "../../node/node-mapping.ts";
import type { StreamId } from "../contract/event.ts";
import type { Account, AccountLimits, PassedLimit } from "../contract/stream-limits.ts";

interface Holding {
  readonly account: Account;
  names: number;
}

/** The names that the streams of each account subscribe to. */
export class AccountSubscriptions {
  readonly #limits: AccountLimits;
  readonly #ofStream = new Map<StreamId, Holding>();
  readonly #ofAccount = new Map<string, number>();

  constructor(limits: AccountLimits) {
    this.#limits = limits;
  }

  /** Number of accounts with subscriptions. */
  get accounts(): number {
    return this.#ofAccount.size;
  }

  /** Sets how many names a stream subscribes to; returns the limit that its account exceeds now. */
  set(stream: StreamId, peer: Peer, names: number): PassedLimit | undefined {
    const { accountOf } = this.#limits;
    if (accountOf === undefined) return undefined;
    const held = this.#ofStream.get(stream);
    if ((held?.names ?? 0) === names) return undefined;
    const account = held?.account ?? accountOf(peer);
    const before = held?.names ?? 0;
    if (held === undefined) this.#ofStream.set(stream, { account, names });
    else held.names = names;
    const ofAccount = this.#add(account, names - before);
    const limit = account.by === "identity" ? "maxSubscriptionsPerIdentity" : "maxSubscriptionsPerPeer";
    const most = this.#limits[limit];
    if (most === undefined || names <= before || ofAccount <= most) return undefined;
    const message = `the streams of this ${account.by} subscribe to ${ofAccount} names; at most ${most} are served`;
    return { limit, message };
  }

  forget(stream: StreamId): void {
    const held = this.#ofStream.get(stream);
    if (held === undefined) return;
    this.#ofStream.delete(stream);
    this.#add(held.account, -held.names);
  }

  #add({ key }: Account, names: number): number {
    const ofAccount = (this.#ofAccount.get(key) ?? 0) + names;
    if (ofAccount === 0) this.#ofAccount.delete(key);
    else this.#ofAccount.set(key, ofAccount);
    return ofAccount;
  }
}
