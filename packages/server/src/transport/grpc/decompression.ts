import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { statusCode } from "@xdskit/protocol/internal";
import { FramingError } from "./framing.ts";
import type { Compression } from "./metadata.ts";

/** Each may become a thousand times as long: so many at once, for all clients together. */
const AT_ONCE = 2;

const gunzipped = promisify(gunzip);
const inflated = promisify(inflate);

/** A message that came compressed. */
export interface CompressedMessage {
  /** The host of whoever sent it. */
  readonly host: string;
  readonly compression: Exclude<Compression, "identity">;
  readonly bytes: Uint8Array;
  readonly maxBytes: number;
  /** Whether anybody still waits for it. */
  readonly isWanted: () => boolean;
}

/** Makes messages of clients whole again, a few at a time; clients that have many take turns with those that have one. */
export class Decompression {
  /** Who waits for a turn, by their host; the next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  get running(): number {
    return this.#running;
  }

  /** The message as it was; undefined if it is not wanted any more when its turn has come. Rejects with a `FramingError`. */
  async inflate(message: CompressedMessage): Promise<Uint8Array | undefined> {
    if (this.#running >= AT_ONCE) await this.#turn(message.host);
    else this.#running++;
    try {
      return message.isWanted() ? await inflateNow(message) : undefined;
    } finally {
      this.#giveTurn();
    }
  }

  async #turn(host: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const ofHost = this.#waiting.get(host);
      if (ofHost === undefined) this.#waiting.set(host, [resolve]);
      else ofHost.push(resolve);
    });
  }

  /** Whoever waits runs in place of who is done. */
  #giveTurn(): void {
    const next = this.#waiting.entries().next();
    if (next.done === true) {
      this.#running--;
      return;
    }
    const [host, ofHost] = next.value;
    const start = ofHost.shift();
    this.#waiting.delete(host);
    if (ofHost.length > 0) this.#waiting.set(host, ofHost);
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
