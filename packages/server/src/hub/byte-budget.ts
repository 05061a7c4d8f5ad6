import type { Status } from "@xdskit/protocol";
import { hostOf, statusCode } from "@xdskit/protocol/internal";
import type { LimitName, Limits } from "../options.ts";

/** A limit that was passed, and how to say so. */
export interface LimitPassed {
  readonly limit: LimitName;
  readonly status: Status;
}

/** Bytes of requests that are not read to their end yet: all in all, and of each client address. */
export class ByteBudget {
  readonly #limits: Pick<Limits, "maxReceivedBytes" | "maxReceivedBytesPerPeer">;
  readonly #ofPeer = new Map<string, number>();
  #held = 0;

  constructor(limits: Pick<Limits, "maxReceivedBytes" | "maxReceivedBytesPerPeer">) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#held;
  }

  /** Addresses that hold anything. */
  get peers(): number {
    return this.#ofPeer.size;
  }

  /** What one request of `host:port` holds; nothing at first. */
  open(address: string): HeldBytes {
    const host = hostOf(address);
    let held = 0;
    return {
      hold: (bytes) => {
        const passed = bytes > held ? this.#refuse(host, bytes - held) : undefined;
        if (passed !== undefined) return passed;
        this.#add(host, bytes - held);
        held = bytes;
        return undefined;
      },
    };
  }

  #refuse(host: string, bytes: number): LimitPassed | undefined {
    const { maxReceivedBytes, maxReceivedBytesPerPeer } = this.#limits;
    const ofPeer = (this.#ofPeer.get(host) ?? 0) + bytes;
    if (ofPeer > maxReceivedBytesPerPeer) {
      return passed("maxReceivedBytesPerPeer", maxReceivedBytesPerPeer, "from this address");
    }
    if (this.#held + bytes > maxReceivedBytes) return passed("maxReceivedBytes", maxReceivedBytes, "on this server");
    return undefined;
  }

  #add(host: string, bytes: number): void {
    this.#held += bytes;
    const ofPeer = (this.#ofPeer.get(host) ?? 0) + bytes;
    if (ofPeer === 0) this.#ofPeer.delete(host);
    else this.#ofPeer.set(host, ofPeer);
  }
}

/** What one request holds. */
export interface HeldBytes {
  /** From now on so many bytes, 0 at the end; or the limit that they would pass: then it is as it was. */
  hold(bytes: number): LimitPassed | undefined;
}

function passed(limit: LimitName, most: number, where: string): LimitPassed {
  const message = `requests that are not read to their end hold more than ${most} bytes ${where} (${limit})`;
  return { limit, status: { code: statusCode.RESOURCE_EXHAUSTED, message } };
}
