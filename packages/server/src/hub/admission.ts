import type { ApiVersion, Peer, Status, TypeUrl } from "@xdskit/protocol";
import { statusCode, type TypeTraits, typeKindTable } from "@xdskit/protocol/internal";
import type { LimitName } from "../options.ts";
import type { ConnectionLimits } from "./connection-limits.ts";
import type { ReadinessTracker } from "./readiness.ts";
import { isTrusted, secretsRefused } from "./trust.ts";

/** What a stream or poll that wants in is judged by. */
export interface Candidate {
  readonly peer: Peer;
  readonly apiVersion: ApiVersion;
  /** The gRPC method or REST path, for people. */
  readonly method: string;
}

/** What who is let in depends on, and who is told when somebody is not. */
export interface AdmissionOptions {
  readonly readiness: ReadinessTracker;
  readonly connectionLimits: ConnectionLimits;
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  /** Methods of version 2 of the API are not served. */
  readonly refusesV2: boolean;
  /** Trusts plaintext peers that are not on loopback. */
  readonly insecure: boolean;
  readonly limitHit: (limit: LimitName, address: string, message: string) => void;
  readonly v2Refused: (address: string, method: string) => void;
}

/** Says who is let in, and why others are not. Whoever is let in counts as a stream in the census. */
export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** The status that refuses a stream; undefined: it is let in, also when there is nothing to serve yet. */
  refuseStream(candidate: Candidate): Status | undefined {
    return this.#refuseMethod(candidate) ?? this.#refuseOneTooMany(candidate.peer);
  }

  /** The same of a poll, which is a stream and its request in one. */
  refusePoll(candidate: Candidate, type: TypeUrl): Status | undefined {
    const { peer } = candidate;
    const refusal = this.#refuseMethod(candidate);
    if (refusal !== undefined) return refusal;
    if (this.#options.readiness.state === "starting") return notReady;
    return this.refuseSecrets(peer, type) ?? this.#refuseOneTooMany(peer);
  }

  /** The status that refuses a request for Secrets to a peer that is not trusted. */
  refuseSecrets(peer: Peer, type: TypeUrl | undefined): Status | undefined {
    const kind = type === undefined ? undefined : this.#options.traits(type)?.kind;
    const isSecret = kind !== undefined && typeKindTable[kind].isSecret;
    return isSecret && !isTrusted(peer, this.#options.insecure) ? secretsRefused : undefined;
  }

  #refuseMethod({ peer, apiVersion, method }: Candidate): Status | undefined {
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

/** What everybody is told when the server goes. */
export const draining: Status = {
  code: statusCode.UNAVAILABLE,
  message: "this server is shutting down; connect anew",
};

/** What whoever asks is told before there is anything to serve. */
export const notReady: Status = {
  code: statusCode.UNAVAILABLE,
  message: "not ready: no configuration has been loaded yet; try again later",
};

const v2IsOff: Status = {
  code: statusCode.UNIMPLEMENTED,
  message: 'version 2 of the API is switched off here (setting "v2"); speak version 3',
};
