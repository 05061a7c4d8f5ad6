import type { Status } from "@xdskit/protocol";
import { hostOf, statusCode } from "@xdskit/protocol/internal";
import type { LimitName, Limits } from "../options.ts";

/** An exceeded limit and its status. */
export interface LimitPassed {
  readonly limit: LimitName;
  readonly status: Status;
}

/** Counts the bytes of requests that are not fully processed, in total and per client address. */
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

  /** Number of client addresses that hold bytes. */
  get peers(): number {
    return this.#ofPeer.size;
  }

  /** Opens the account of one request of `host:port`, at 0 bytes. */
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

/** The bytes that one request holds. */
export interface HeldBytes {
  /** Sets the held bytes (0 at the end). Returns the limit that they would exceed; then nothing changes. */
  hold(bytes: number): LimitPassed | undefined;
}

function passed(limit: LimitName, most: number, where: string): LimitPassed {
  const message = `requests that are not read to their end hold more than ${most} bytes ${where} (${limit})`;
  return { limit, status: { code: statusCode.RESOURCE_EXHAUSTED, message } };
}
