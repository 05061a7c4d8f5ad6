import type { Status } from "@xdskit/protocol";
import type { Account } from "@xdskit/protocol/internal";
import { statusCode } from "@xdskit/protocol/internal";
import type { LimitName, Limits } from "../limits.ts";

type ByteLimits = Pick<Limits, "maxReceivedBytes" | "maxReceivedBytesPerPeer" | "maxReceivedBytesPerIdentity">;

/** An exceeded limit and its status. */
export interface LimitPassed {
  readonly limit: LimitName;
  readonly status: Status;
}

/** Counts the bytes of requests that are not fully processed, in total and per account. */
export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #ofAccount = new Map<string, number>();
  #held = 0;

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#held;
  }

  /** Number of accounts that hold bytes. */
  get accounts(): number {
    return this.#ofAccount.size;
  }

  /** Counts the bytes of one more request, from 0. */
  open(account: Account): HeldBytes {
    let held = 0;
    return {
      hold: (bytes) => {
        const passed = bytes > held ? this.#refuse(account, bytes - held) : undefined;
        if (passed !== undefined) return passed;
        this.#add(account, bytes - held);
        held = bytes;
        return undefined;
      },
    };
  }

  #refuse({ key, by }: Account, bytes: number): LimitPassed | undefined {
    const { maxReceivedBytes } = this.#limits;
    const limit = by === "identity" ? "maxReceivedBytesPerIdentity" : "maxReceivedBytesPerPeer";
    const ofAccount = (this.#ofAccount.get(key) ?? 0) + bytes;
    if (ofAccount > this.#limits[limit]) return passed(limit, this.#limits[limit], `from this ${by}`);
    if (this.#held + bytes > maxReceivedBytes) return passed("maxReceivedBytes", maxReceivedBytes, "on this server");
    return undefined;
  }

  #add({ key }: Account, bytes: number): void {
    this.#held += bytes;
    const ofAccount = (this.#ofAccount.get(key) ?? 0) + bytes;
    if (ofAccount === 0) this.#ofAccount.delete(key);
    else this.#ofAccount.set(key, ofAccount);
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
