import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonBodyEncoder } from "@xdskit/envoy-api/internal";
import type { Body } from "@xdskit/protocol/internal";
import type { ResponseHeaders } from "./exchange.ts";
import { PacedQueue } from "./paced-queue.ts";
import { takesGzip } from "./takes-gzip.ts";

const gzipped = promisify(gzip);

type Coding = "identity" | "gzip";

/** An encoded response body. */
export interface RestBody {
  readonly bytes: Uint8Array;
  readonly headers: ResponseHeaders;
}

/** Receives a body, or the error that prevented it. */
export interface BodyReceiver {
  take(body: RestBody): void;
  fail(error: unknown): void;
}

interface Making {
  readonly receivers: BodyReceiver[];
}

const HEADERS: Readonly<Record<Coding, ResponseHeaders>> = {
  identity: { vary: "accept-encoding" },
  gzip: { vary: "accept-encoding", "content-encoding": "gzip" },
};

/** Bytes of bodies that are kept, besides the newest, for further clients with the same response. */
const KEPT_BYTES = 8 * 1024 * 1024;

/**
 * JSON bodies, printed and compressed once for all clients with the same response at about the same time. A client may
 * poll for ever other names, and its responses are remembered for minutes, but not what was made of them.
 */
export class RestBodies {
  readonly #encoder: JsonBodyEncoder;
  readonly #made: Readonly<Record<Coding, RecentBodies>> = {
    identity: new RecentBodies(KEPT_BYTES),
    gzip: new RecentBodies(KEPT_BYTES),
  };
  readonly #making: Readonly<Record<Coding, Map<Body, Making>>> = { identity: new Map(), gzip: new Map() };
  readonly #queue = new PacedQueue();

  constructor(encoder: JsonBodyEncoder) {
    this.#encoder = encoder;
  }

  /** Passes the body on, at once if it is cached; gzipped only if the client accepts that. */
  give(body: Body, acceptEncoding: string | undefined, receiver: BodyReceiver): void {
    const coding = takesGzip(acceptEncoding) ? "gzip" : "identity";
    const made = this.#made[coding].get(body);
    if (made !== undefined) {
      receiver.take(made);
      return;
    }
    const making = this.#making[coding].get(body);
    if (making !== undefined) making.receivers.push(receiver);
    else void this.#make(body, coding, receiver);
  }

  async #make(body: Body, coding: Coding, first: BodyReceiver): Promise<void> {
    const receivers = [first];
    this.#making[coding].set(body, { receivers });
    let tell: (receiver: BodyReceiver) => void;
    try {
      const text = await this.#encoder.encode(body);
      const made = { bytes: coding === "gzip" ? await gzipped(text) : text, headers: HEADERS[coding] };
      this.#made[coding].set(body, made);
      tell = (receiver) => receiver.take(made);
    } catch (error) {
      tell = (receiver) => receiver.fail(error);
    }
    this.#making[coding].delete(body);
    for (const receiver of receivers) this.#queue.push(() => tell(receiver));
  }
}

/** What was made of the newest responses. It is freed with its response, too. */
class RecentBodies {
  readonly #budget: number;
  readonly #bodies = new WeakMap<Body, RestBody>();
  /** The oldest first. */
  readonly #kept = new Map<WeakRef<Body>, number>();
  #bytes = 0;

  constructor(budget: number) {
    this.#budget = budget;
  }

  get(body: Body): RestBody | undefined {
    return this.#bodies.get(body);
  }

  set(body: Body, made: RestBody): void {
    this.#bodies.set(body, made);
    for (const [oldest, bytes] of this.#kept) {
      if (this.#bytes <= this.#budget) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
      const outdated = oldest.deref();
      if (outdated !== undefined) this.#bodies.delete(outdated);
    }
    this.#kept.set(new WeakRef(body), made.bytes.byteLength);
    this.#bytes += made.bytes.byteLength;
  }
}
