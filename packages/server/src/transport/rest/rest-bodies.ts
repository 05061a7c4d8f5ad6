import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonBodyEncoder } from "@xdskit/envoy-api";
import type { Body } from "@xdskit/protocol";
import type { ResponseHeaders } from "./exchange.ts";

const gzipped = promisify(gzip);

/** A body as it leaves. */
export interface RestBody {
  readonly bytes: Uint8Array;
  readonly headers: ResponseHeaders;
}

/** Bodies in JSON, printed and compressed once for all who are told the same. */
export class RestBodies {
  readonly #encoder: JsonBodyEncoder;
  readonly #compressed = new WeakMap<Body, Promise<Uint8Array>>();

  constructor(encoder: JsonBodyEncoder) {
    this.#encoder = encoder;
  }

  /** Compressed if the client takes it, and only then. */
  async make(body: Body, acceptEncoding: string | undefined): Promise<RestBody> {
    if (!takesGzip(acceptEncoding)) {
      return { bytes: await this.#encoder.encode(body), headers: { vary: "accept-encoding" } };
    }
    let compressed = this.#compressed.get(body);
    if (compressed === undefined) {
      compressed = this.#encoder.encode(body).then(gzipped);
      this.#compressed.set(body, compressed);
    }
    return { bytes: await compressed, headers: { vary: "accept-encoding", "content-encoding": "gzip" } };
  }
}

/** Whether an `Accept-Encoding` names gzip, and not with a weight of nothing. */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  return (acceptEncoding ?? "").split(",").some((entry) => {
    const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return (coding === "gzip" || coding === "x-gzip") && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
}
