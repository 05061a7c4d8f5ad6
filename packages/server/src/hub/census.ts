import { type Peer, type Status, statusCode } from "@xdskit/protocol";
import { type LimitName, type Limits, limitNames } from "../options.ts";

/** A limit, how much of it is used where that is one number for the whole server, and how often it was passed. */
export interface LimitUse {
  readonly name: LimitName;
  readonly value: number;
  readonly used: number | undefined;
  readonly hits: number;
}

/** Why a stream is one too many. */
export interface StreamRefusal {
  readonly limit: "maxStreams" | "maxStreamsPerPeer";
  readonly status: Status;
}

/** Counts connections and streams, and says no to one too many. */
export class Census {
  readonly #limits: Limits;
  readonly #hits = new Map<LimitName, number>();
  readonly #streamsOf = new Map<string, number>();
  #connections = 0;
  #streams = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get connections(): number {
    return this.#connections;
  }

  get streams(): number {
    return this.#streams;
  }

  /** A limit was passed, any of them. */
  countHit(limit: LimitName): void {
    this.#hits.set(limit, (this.#hits.get(limit) ?? 0) + 1);
  }

  /** False when there are too many connections. */
  admitConnection(): boolean {
    if (this.#connections >= this.#limits.maxConnections) return false;
    this.#connections++;
    return true;
  }

  connectionClosed(): void {
    this.#connections--;
  }

  /** Counts a stream in; or the limit that it would pass, and how to say so. */
  admitStream(peer: Peer): StreamRefusal | undefined {
    const host = hostOf(peer.address);
    const ofPeer = this.#streamsOf.get(host) ?? 0;
    if (this.#streams >= this.#limits.maxStreams) return this.#refuse("maxStreams", "open on this server");
    if (ofPeer >= this.#limits.maxStreamsPerPeer) return this.#refuse("maxStreamsPerPeer", "open from this address");
    this.#streams++;
    this.#streamsOf.set(host, ofPeer + 1);
    return undefined;
  }

  streamClosed(peer: Peer): void {
    const host = hostOf(peer.address);
    const left = (this.#streamsOf.get(host) ?? 1) - 1;
    if (left === 0) this.#streamsOf.delete(host);
    else this.#streamsOf.set(host, left);
    this.#streams--;
  }

  describe(): readonly LimitUse[] {
    const used: Partial<Record<LimitName, number>> = { maxConnections: this.#connections, maxStreams: this.#streams };
    return limitNames.map((name) => ({
      name,
      value: this.#limits[name],
      used: used[name],
      hits: this.#hits.get(name) ?? 0,
    }));
  }

  #refuse(limit: "maxStreams" | "maxStreamsPerPeer", where: string): StreamRefusal {
    const message = `${this.#limits[limit]} streams are ${where}, which is the limit (${limit})`;
    return { limit, status: { code: statusCode.RESOURCE_EXHAUSTED, message } };
  }
}

/** `host` of `host:port`; an IPv6 address keeps its brackets. */
function hostOf(address: string): string {
  const colon = address.lastIndexOf(":");
  return colon === -1 ? address : address.slice(0, colon);
}
