import type { Peer } from "@xdskit/protocol";
import { hostOf, statusCode } from "@xdskit/protocol/internal";
import { type LimitName, type Limits, limitNames } from "../options.ts";
import type { ByteBudget, LimitPassed } from "./byte-budget.ts";

/** A limit, its use where that is one number for the whole server, and its hits. */
export interface LimitUse {
  readonly name: LimitName;
  readonly value: number;
  readonly used: number | undefined;
  readonly hits: number;
}

type CountLimit = "maxConnections" | "maxConnectionsPerPeer" | "maxStreams" | "maxStreamsPerPeer";

/** Counts connections, discovery streams and other calls, and enforces their limits. */
export class ConnectionLimits {
  readonly #limits: Limits;
  readonly #budget: ByteBudget;
  readonly #hits = new Map<LimitName, number>();
  readonly #connections = new Count("maxConnections", "maxConnectionsPerPeer", "connections");
  readonly #streams = new Count("maxStreams", "maxStreamsPerPeer", "streams");
  /** Counted separately from streams, so that neither can exhaust the other. */
  readonly #calls = new Count("maxStreams", "maxStreamsPerPeer", "calls beside discovery");

  constructor(limits: Limits, budget: ByteBudget) {
    this.#limits = limits;
    this.#budget = budget;
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
    };
    return limitNames.map((name) => ({
      name,
      value: this.#limits[name],
      used: used[name],
      hits: this.#hits.get(name) ?? 0,
    }));
  }
}

/** Open items of one kind, in total and per client address. */
class Count {
  readonly #inAll: CountLimit;
  readonly #perPeer: CountLimit;
  /** Their name in messages. */
  readonly #what: string;
  readonly #ofPeer = new Map<string, number>();
  open = 0;

  constructor(inAll: CountLimit, perPeer: CountLimit, what: string) {
    this.#inAll = inAll;
    this.#perPeer = perPeer;
    this.#what = what;
  }

  admit({ address }: Peer, limits: Limits): LimitPassed | undefined {
    const host = hostOf(address);
    const ofPeer = this.#ofPeer.get(host) ?? 0;
    if (this.open >= limits[this.#inAll]) return this.#refuse(this.#inAll, limits, "open on this server");
    if (ofPeer >= limits[this.#perPeer]) return this.#refuse(this.#perPeer, limits, "open from this address");
    this.open++;
    this.#ofPeer.set(host, ofPeer + 1);
    return undefined;
  }

  release({ address }: Peer): void {
    const host = hostOf(address);
    const left = (this.#ofPeer.get(host) ?? 1) - 1;
    if (left === 0) this.#ofPeer.delete(host);
    else this.#ofPeer.set(host, left);
    this.open--;
  }

  #refuse(limit: CountLimit, limits: Limits, where: string): LimitPassed {
    const message = `${limits[limit]} ${this.#what} are ${where}, which is the limit (${limit})`;
    return { limit, status: { code: statusCode.RESOURCE_EXHAUSTED, message } };
  }
}
