import type { Peer } from "../../node/node-mapping.ts";
import type { StreamId } from "../contract/event.ts";
import type { PollId } from "../contract/poll.ts";
import type { Account, AccountLimit, AccountLimits, PassedLimit } from "../contract/stream-limits.ts";

/** What is counted of each account, and its limits. */
export interface CountedUse {
  /** The limit of all accounts together; undefined: there is none. */
  readonly inAll?: AccountLimit;
  readonly address: AccountLimit;
  readonly identity: AccountLimit;
  /** The message of a limit. `whose`: such as "of this address". */
  readonly message: (whose: string, used: number, most: number) => string;
}

/** The names that streams subscribe to, or keep for responses that were not accepted. */
export const subscribedNames: CountedUse = {
  address: "maxSubscriptionsPerPeer",
  identity: "maxSubscriptionsPerIdentity",
  message: (whose, used, most) => `the streams ${whose} hold ${used} names; at most ${most} are served`,
};

/** The estimated memory of what streams and waiting polls say of themselves, in bytes. */
export const clientBytes: CountedUse = {
  inAll: "maxClientBytes",
  address: "maxClientBytesPerPeer",
  identity: "maxClientBytesPerIdentity",
  message: (whose, used, most) =>
    `what the streams and polls ${whose} say of themselves takes ${used} bytes of memory; at most ${most} are served`,
};

interface Holding {
  readonly account: Account | undefined;
  amount: number;
}

/** How much the open streams and polls of each account use. */
export class AccountUsage {
  readonly #counted: CountedUse;
  readonly #limits: AccountLimits;
  readonly #of = new Map<StreamId | PollId, Holding>();
  readonly #ofAccount = new Map<string, number>();
  #inAll = 0;

  constructor(counted: CountedUse, limits: AccountLimits) {
    this.#counted = counted;
    this.#limits = limits;
  }

  /** Number of accounts that use anything. */
  get accounts(): number {
    return this.#ofAccount.size;
  }

  /** What all use together. */
  get inAll(): number {
    return this.#inAll;
  }

  /** Sets how much a stream or poll uses; returns the limit that is exceeded now, if it uses more than before. */
  set(id: StreamId | PollId, peer: Peer, amount: number): PassedLimit | undefined {
    const held = this.#of.get(id);
    const before = held?.amount ?? 0;
    if (before === amount) return undefined;
    const account = held === undefined ? this.#limits.accountOf?.(peer) : held.account;
    if (held === undefined) this.#of.set(id, { account, amount });
    else held.amount = amount;
    const ofAccount = this.#add(account, amount - before);
    if (amount <= before) return undefined;
    const { inAll, address, identity } = this.#counted;
    const excess =
      account && this.#excess(account.by === "identity" ? identity : address, `of this ${account.by}`, ofAccount);
    return excess ?? (inAll && this.#excess(inAll, "of this server", this.#inAll));
  }

  /** A stream or poll ended. */
  forget(id: StreamId | PollId): void {
    const held = this.#of.get(id);
    if (held === undefined) return;
    this.#of.delete(id);
    this.#add(held.account, -held.amount);
  }

  #excess(limit: AccountLimit, whose: string, used: number): PassedLimit | undefined {
    const most = this.#limits[limit];
    if (most === undefined || used <= most) return undefined;
    return { limit, message: `${this.#counted.message(whose, used, most)} (${limit})` };
  }

  #add(account: Account | undefined, amount: number): number {
    this.#inAll += amount;
    if (account === undefined) return 0;
    const ofAccount = (this.#ofAccount.get(account.key) ?? 0) + amount;
    if (ofAccount === 0) this.#ofAccount.delete(account.key);
    else this.#ofAccount.set(account.key, ofAccount);
    return ofAccount;
  }
}
