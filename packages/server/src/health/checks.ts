import type { EnvoyApi } from "@xdskit/envoy-api";
import { decodeHealthMessage, type HealthMessage, NodeSizeError, WireError } from "@xdskit/envoy-api/internal";
import { anonymousNode, formatTypeUrl, type Node, type Peer, type Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { HealthChecker, HealthDiscovery } from "../health-discovery.ts";
import { isThenable } from "../hub/listeners.ts";
import type { HubPort } from "../hub/port.ts";
import { refuseNode } from "../transport/node-limit.ts";

const SPECIFIER = "envoy.service.health.v3.HealthCheckSpecifier";
const RESPONSE = formatTypeUrl("envoy.service.health.v3.EndpointHealthResponse");

export type HealthApi = Pick<EnvoyApi, "readMessage" | "toJson">;

/** Whose client it is, and what counts its node, which is kept as long as its call: the status refuses it. */
export interface ChecksOptions {
  readonly hub: HubPort;
  readonly peer: Peer;
  readonly countNode?: (node: Node) => Status | undefined;
}

/** The specifier and the reports of one client. */
export class Checks {
  readonly #discovery: HealthDiscovery;
  readonly #api: HealthApi;
  readonly #hub: HubPort;
  readonly #peer: Peer;
  readonly #countNode: ChecksOptions["countNode"];
  #checker: HealthChecker | undefined;
  #told: Uint8Array | undefined;
  /** Whether access lets in the client as the node that it claims to be. */
  #isAdmitted = false;

  constructor(discovery: HealthDiscovery, api: HealthApi, { hub, peer, countNode }: ChecksOptions) {
    this.#countNode = countNode;
    this.#discovery = discovery;
    this.#api = api;
    this.#hub = hub;
    this.#peer = peer;
  }

  /** Handles a message: returns a specifier if it changed, or the status that ends the call. */
  take(bytes: Uint8Array): Uint8Array | Status | undefined {
    try {
      return this.#answer(decodeHealthMessage(bytes, this.#hub.limits.maxNodeBytes));
    } catch (error) {
      if (error instanceof NodeSizeError) return refuseNode(this.#hub, this.#peer.address, error);
      if (error instanceof WireError) {
        return { code: statusCode.INVALID_ARGUMENT, message: `not a health message: ${error.message}` };
      }
      this.#failed(error);
      return { code: statusCode.UNKNOWN, message: "refused by this server" };
    }
  }

  #answer(message: HealthMessage): Uint8Array | Status | undefined {
    switch (message.kind) {
      case "nothing":
        return {
          code: statusCode.INVALID_ARGUMENT,
          message: "expected a health check request or what was found, got neither",
        };
      case "request": {
        const { node = anonymousNode, protocols } = message;
        this.#isAdmitted = false;
        this.#checker = { node, peer: this.#peer, protocols };
        this.#told = undefined;
        return this.#countNode?.(node) ?? this.#refuse() ?? this.#specify(this.#checker);
      }
      case "response": {
        const refusal = this.#refuse();
        if (refusal !== undefined) return refusal;
        const returned: unknown = this.#discovery.onHealth(this.#api.toJson(RESPONSE, message.bytes), this.#checker);
        if (isThenable(returned)) returned.then(undefined, (error: unknown) => this.#failed(error));
        return this.#checker === undefined ? undefined : this.#specify(this.#checker);
      }
      default:
        return message satisfies never;
    }
  }

  /** Decides again whether the client may go on: the status that refuses it, or undefined. */
  admitAgain(): Status | undefined {
    if (!this.#isAdmitted) return undefined;
    this.#isAdmitted = false;
    return this.#refuse();
  }

  #refuse(): Status | undefined {
    if (this.#isAdmitted) return undefined;
    const granted = this.#hub.admit("hds", this.#peer, this.#checker?.node ?? anonymousNode);
    if ("code" in granted) return granted;
    this.#isAdmitted = true;
    return undefined;
  }

  #failed(error: unknown): void {
    this.#hub.report({ kind: "listener-failed", event: "health-discovery", error });
  }

  #specify(checker: HealthChecker): Uint8Array | Status | undefined {
    const value = this.#discovery.specifierFor(checker);
    if (value === undefined)
      return { code: statusCode.PERMISSION_DENIED, message: "nothing is to be checked by this node" };
    if (isThenable(value)) {
      value.then(undefined, () => undefined); // its rejection would end the process
      throw new TypeError("specifierFor: expected a HealthCheckSpecifier, got a promise: it must not be async");
    }
    const { bytes, problems } = this.#api.readMessage(SPECIFIER, value);
    if (bytes === undefined)
      throw new Error(problems.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
    if (this.#told !== undefined && Buffer.compare(this.#told, bytes) === 0) return undefined;
    this.#told = bytes;
    return bytes;
  }
}
