import type { ApiVersion, Peer, Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { LimitName } from "../limits.ts";
import type { ConnectionLimits } from "./connection-limits.ts";
import type { ReadinessTracker } from "./readiness.ts";

/** What a stream or poll asks for. */
export interface AskedMethod {
  readonly apiVersion: ApiVersion;
  /** The gRPC method or REST path, for display. */
  readonly method: string;
}

/** Inputs of the admission decision, and where limit hits are reported. */
export interface AdmissionOptions {
  readonly readiness: ReadinessTracker;
  readonly connectionLimits: ConnectionLimits;
  /** Rejects v2 methods. */
  readonly refusesV2: boolean;
  readonly limitHit: (limit: LimitName, address: string, message: string) => void;
  readonly v2Refused: (address: string, method: string) => void;
}

/** Decides which streams and polls are admitted. `ConnectionLimits` counts each admitted one as a stream. */
export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** The status that rejects a stream; undefined: admitted, even before the server is ready. */
  refuseStream(peer: Peer, method: AskedMethod): Status | undefined {
    return this.#refuseMethod(peer, method) ?? this.#refuseOneTooMany(peer);
  }

  /** The status that rejects a poll, which is a stream and its request in one. */
  refusePoll(peer: Peer, method: AskedMethod): Status | undefined {
    const refusal = this.#refuseMethod(peer, method);
    if (refusal !== undefined) return refusal;
    if (this.#options.readiness.state === "starting") return notReady;
    return this.#refuseOneTooMany(peer);
  }

  #refuseMethod(peer: Peer, { apiVersion, method }: AskedMethod): Status | undefined {
    const { readiness, refusesV2, v2Refused } = this.#options;
    if (readiness.state === "draining") return draining;
    if (apiVersion !== "v2" || !refusesV2) return undefined;
    v2Refused(peer.address, method);
    return v2IsOff;
  }

  #refuseOneTooMany(peer: Peer): Status | undefined {
    const refusal = this.#options.connectionLimits.admitStream(peer);
    if (refusal !== undefined) this.#options.limitHit(refusal.limit, peer.address, refusal.status.message);
    return refusal?.status;
  }
}

/** The status of streams and calls while draining. */
export const draining: Status = {
  code: statusCode.UNAVAILABLE,
  message: "this server is shutting down; connect anew",
};

/** The status of requests before the first commit. */
export const notReady: Status = {
  code: statusCode.UNAVAILABLE,
  message: "not ready: no configuration has been loaded yet; try again later",
};

const v2IsOff: Status = {
  code: statusCode.UNIMPLEMENTED,
  message: 'version 2 of the API is switched off here (setting "v2"); speak version 3',
};
