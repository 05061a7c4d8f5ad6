import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonBodyEncoder } from "@xdskit/envoy-api/internal";
import type { Body } from "@xdskit/protocol/internal";
import type { ResponseHeaders } from "./exchange.ts";
import { PacedQueue } from "./paced-queue.ts";

const gzipped = promisify(gzip);

type Coding = "identity" | "gzip";

/** A body as it leaves. */
export interface RestBody {
  readonly bytes: Uint8Array;
  readonly headers: ResponseHeaders;
}

/** What is done with a body once it is made, or with the reason why it cannot be. */
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

/** Bodies in JSON, printed and compressed once for all who are told the same. */
export class RestBodies {
  readonly #encoder: JsonBodyEncoder;
  readonly #made: Readonly<Record<Coding, WeakMap<Body, RestBody>>> = { identity: new WeakMap(), gzip: new WeakMap() };
  readonly #making: Readonly<Record<Coding, Map<Body, Making>>> = { identity: new Map(), gzip: new Map() };
  readonly #queue = new PacedQueue();

  constructor(encoder: JsonBodyEncoder) {
    this.#encoder = encoder;
  }

  /** Hands it over at once if it is there; compressed if the client takes that, and only then. */
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

/** Whether an `Accept-Encoding` names gzip, and not with a weight of nothing. */
function takesGzip(acceptEncoding: string | undefined): boolean {
  return (acceptEncoding ?? "").split(",").some((entry) => {
    const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return (coding === "gzip" || coding === "x-gzip") && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
}
