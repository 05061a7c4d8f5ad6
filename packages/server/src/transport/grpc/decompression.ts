import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { statusCode } from "@xdskit/protocol/internal";
import { FramingError } from "./framing.ts";
import type { Compression } from "./metadata.ts";

/** Parallel decompressions of all clients: each message may grow a thousandfold. */
const AT_ONCE = 2;

const gunzipped = promisify(gunzip);
const inflated = promisify(inflate);

/** A compressed message. */
export interface CompressedMessage {
  /** Whom it counts for. */
  readonly account: string;
  readonly compression: Exclude<Compression, "identity">;
  readonly bytes: Uint8Array;
  readonly maxBytes: number;
  /** Whether the message is still needed. */
  readonly isWanted: () => boolean;
}

/** Decompresses messages a few at a time, round-robin over accounts. */
export class Decompression {
  /** Waiting messages by account, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  get running(): number {
    return this.#running;
  }

  /**
   * Returns the decompressed message, or undefined if it is no longer wanted at its turn. Rejects with a
   * `FramingError`.
   */
  async inflate(message: CompressedMessage): Promise<Uint8Array | undefined> {
    if (this.#running >= AT_ONCE) await this.#turn(message.account);
    else this.#running++;
    try {
      return message.isWanted() ? await inflateNow(message) : undefined;
    } finally {
      this.#giveTurn();
    }
  }

  async #turn(account: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const ofAccount = this.#waiting.get(account);
      if (ofAccount === undefined) this.#waiting.set(account, [resolve]);
      else ofAccount.push(resolve);
    });
  }

  /** Starts the next waiting message when one is done. */
  #giveTurn(): void {
    const next = this.#waiting.entries().next();
    if (next.done === true) {
      this.#running--;
      return;
    }
    const [account, ofAccount] = next.value;
    const start = ofAccount.shift();
    this.#waiting.delete(account);
    if (ofAccount.length > 0) this.#waiting.set(account, ofAccount);
    start?.();
  }
}

async function inflateNow({ compression, bytes, maxBytes }: CompressedMessage): Promise<Uint8Array> {
  const decompressed = compression === "gzip" ? gunzipped : inflated;
  return decompressed(bytes, { maxOutputLength: maxBytes }).catch((cause: unknown) => {
    throw decompressionError(cause, compression, maxBytes);
  });
}

function decompressionError(cause: unknown, compression: string, maxBytes: number): FramingError {
  const isTooLong = cause instanceof RangeError;
  return isTooLong
    ? new FramingError(
        statusCode.RESOURCE_EXHAUSTED,
        `a request of more than ${maxBytes} bytes after decompression (maxRequestBytes)`,
        "maxRequestBytes",
      )
    : new FramingError(statusCode.INTERNAL, `a message is not ${compression} as it says`);
}
