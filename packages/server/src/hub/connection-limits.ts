import type { Peer } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { type LimitName, type Limits, limitNames } from "../limits.ts";
import { accountOf } from "./account.ts";
import type { ByteBudget, LimitPassed } from "./byte-budget.ts";

/** A limit, its use where that is one number for the whole server, and its hits. */
export interface LimitUse {
  readonly name: LimitName;
  readonly value: number;
  readonly used: number | undefined;
  readonly hits: number;
}

/** What the protocol server estimates to keep of clients, in bytes of memory. */
interface RememberedBytes {
  /** Of pollers without a poll. */
  readonly pollerBytes: () => number;
  /** Of the nodes of streams and waiting polls, and the names of polls. */
  readonly clientBytes: () => number;
}

/** The limits of one count: of the whole server, of an address, of an identity. */
interface CountLimits {
  readonly inAll: LimitName;
  readonly address: LimitName;
  readonly identity: LimitName;
}

const connectionLimits: CountLimits = {
  inAll: "maxConnections",
  address: "maxConnectionsPerPeer",
  identity: "maxConnectionsPerIdentity",
};
const streamLimits: CountLimits = {
  inAll: "maxStreams",
  address: "maxStreamsPerPeer",
  identity: "maxStreamsPerIdentity",
};

/** Counts connections, discovery streams and other calls, and enforces their limits. */
export class ConnectionLimits {
  readonly #limits: Limits;
  readonly #budget: ByteBudget;
  readonly #remembered: RememberedBytes;
  readonly #hits = new Map<LimitName, number>();
  readonly #connections = new Count(connectionLimits, "connections");
  readonly #streams = new Count(streamLimits, "streams");
  /** Counted separately from streams, so that neither can exhaust the other. */
  readonly #calls = new Count(streamLimits, "calls beside discovery");

  constructor(limits: Limits, budget: ByteBudget, remembered: RememberedBytes) {
    this.#limits = limits;
    this.#budget = budget;
    this.#remembered = remembered;
  }

  get connections(): number {
    return this.#connections.open;
  }

  get streams(): number {
    return this.#streams.open;
  }

  /** Counts a hit of any limit. */
  countHit(limit: LimitName): void {
    this.#hits.set(limit, (this.#hits.get(limit) ?? 0) + 1);
  }

  /** Admits a connection, or returns the limit that it exceeds. */
  admitConnection(peer: Peer): LimitPassed | undefined {
    return this.#connections.admit(peer, this.#limits);
  }

  connectionClosed(peer: Peer): void {
    this.#connections.release(peer);
  }

  /** Admits a discovery stream or a poll, or returns the limit that it exceeds. */
  admitStream(peer: Peer): LimitPassed | undefined {
    return this.#streams.admit(peer, this.#limits);
  }

  streamClosed(peer: Peer): void {
    this.#streams.release(peer);
  }

  /** Admits a call other than a discovery stream, such as a health watch, or returns the limit that it exceeds. */
  admitCall(peer: Peer): LimitPassed | undefined {
    return this.#calls.admit(peer, this.#limits);
  }

  callClosed(peer: Peer): void {
    this.#calls.release(peer);
  }

  describe(): readonly LimitUse[] {
    const used: Partial<Record<LimitName, number>> = {
      maxConnections: this.#connections.open,
      maxStreams: this.#streams.open,
      maxReceivedBytes: this.#budget.held,
      maxClientBytes: this.#remembered.clientBytes(),
      maxPollerBytes: this.#remembered.pollerBytes(),
    };
    return limitNames.map((name) => ({
      name,
      value: this.#limits[name],
      used: used[name],
      hits: this.#hits.get(name) ?? 0,
    }));
  }
}

/** Open items of one kind, in total and per account. */
class Count {
  readonly #limits: CountLimits;
  /** Their name in messages. */
  readonly #what: string;
  readonly #ofAccount = new Map<string, number>();
  open = 0;

  constructor(limits: CountLimits, what: string) {
    this.#limits = limits;
    this.#what = what;
  }

  admit(peer: Peer, limits: Limits): LimitPassed | undefined {
    const { key, by } = accountOf(peer);
    const ofAccount = this.#ofAccount.get(key) ?? 0;
    const { inAll } = this.#limits;
    if (this.open >= limits[inAll]) return this.#refuse(inAll, limits, "open on this server");
    const limit = this.#limits[by];
    if (ofAccount >= limits[limit]) return this.#refuse(limit, limits, `open from this ${by}`);
    this.open++;
    this.#ofAccount.set(key, ofAccount + 1);
    return undefined;
  }

  release(peer: Peer): void {
    const { key } = accountOf(peer);
    const left = (this.#ofAccount.get(key) ?? 1) - 1;
    if (left === 0) this.#ofAccount.delete(key);
    else this.#ofAccount.set(key, left);
    this.open--;
  }

  #refuse(limit: LimitName, limits: Limits, where: string): LimitPassed {
    const message = `${limits[limit]} ${this.#what} are ${where}, which is the limit (${limit})`;
    return { limit, status: { code: statusCode.RESOURCE_EXHAUSTED, message } };
  }
}
