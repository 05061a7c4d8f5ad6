import { decodeHealthMessage, type EnvoyApi, type HealthMessage, WireError } from "@xdskit/envoy-api";
import { anonymousNode, formatTypeUrl, type Peer, type Status, statusCode } from "@xdskit/protocol";
import type { HealthChecker, HealthDiscovery } from "../health-discovery.ts";
import type { GrpcCall } from "../transport/grpc/call.ts";
import type { Dismiss, GrpcMethod, MethodPorts } from "../transport/grpc/method.ts";
import { answerOnce } from "../transport/grpc/simple-call.ts";

const SERVICES = [
  "envoy.service.discovery.v2.HealthDiscoveryService",
  "envoy.service.health.v3.HealthDiscoveryService",
];
const SPECIFIER = "envoy.service.health.v3.HealthCheckSpecifier";
const RESPONSE = formatTypeUrl("envoy.service.health.v3.EndpointHealthResponse");

type Api = Pick<EnvoyApi, "readMessage" | "toJson">;

/** Stream and Fetch of both versions, whose messages agree by number (B-HDS-01). */
export function healthDiscoveryMethods(discovery: HealthDiscovery, api: Api): ReadonlyMap<string, GrpcMethod> {
  return new Map(
    SERVICES.flatMap((service): [string, GrpcMethod][] => [
      [`/${service}/StreamHealthCheck`, (call, ports) => stream(call, ports, new Checks(discovery, api, ports))],
      [
        `/${service}/FetchHealthCheck`,
        (call, ports) => answerOnce(call, (bytes) => new Checks(discovery, api, ports).take(bytes) ?? new Uint8Array()),
      ],
    ]),
  );
}

function stream(call: GrpcCall, { hub }: MethodPorts, checks: Checks): Dismiss {
  const unwatch = hub.readiness.watch(() => {
    if (hub.readiness.state === "draining") call.end(draining);
  });
  call.accept({
    onMessage: async (bytes) => {
      const said = checks.take(bytes);
      if (said === undefined) return;
      if ("code" in said) call.end(said);
      else await call.send(said);
    },
    onHalfClose: () => call.end({ code: statusCode.OK, message: "" }),
    onFailure: (status) => call.end(status),
    onClose: unwatch,
  });
  return (status) => call.end(status);
}

/** What one client is asked to check, and what it says. */
class Checks {
  readonly #discovery: HealthDiscovery;
  readonly #api: Api;
  readonly #hub: MethodPorts["hub"];
  readonly #peer: Peer;
  #checker: HealthChecker | undefined;
  #told: Uint8Array | undefined;

  constructor(discovery: HealthDiscovery, api: Api, { hub, peer }: MethodPorts) {
    this.#discovery = discovery;
    this.#api = api;
    this.#hub = hub;
    this.#peer = peer;
  }

  /** What is to be answered: a specifier, if it is news; or why the call ends. */
  take(bytes: Uint8Array): Uint8Array | Status | undefined {
    try {
      return this.#answer(decodeHealthMessage(bytes));
    } catch (error) {
      if (error instanceof WireError) {
        return { code: statusCode.INVALID_ARGUMENT, message: `not a health message: ${error.message}` };
      }
      this.#hub.report({ kind: "listener-failed", event: "health-discovery", error });
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
        this.#checker = { node, peer: this.#peer, protocols };
        this.#told = undefined;
        return this.#specify(this.#checker);
      }
      case "response":
        this.#discovery.onHealth(this.#api.toJson(RESPONSE, message.bytes), this.#checker);
        return this.#checker === undefined ? undefined : this.#specify(this.#checker);
      default:
        return message satisfies never;
    }
  }

  #specify(checker: HealthChecker): Uint8Array | Status | undefined {
    const value = this.#discovery.specifierFor(checker);
    if (value === undefined)
      return { code: statusCode.PERMISSION_DENIED, message: "nothing is to be checked by this node" };
    const { bytes, problems } = this.#api.readMessage(SPECIFIER, value);
    if (bytes === undefined)
      throw new Error(problems.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
    if (this.#told !== undefined && Buffer.compare(this.#told, bytes) === 0) return undefined;
    this.#told = bytes;
    return bytes;
  }
}

const draining: Status = { code: statusCode.UNAVAILABLE, message: "this server is shutting down; connect anew" };
