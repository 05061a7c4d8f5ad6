import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { HealthDiscovery } from "../health-discovery.ts";
import type { GrpcCall } from "../transport/grpc/call.ts";
import type { Dismiss, GrpcMethod, MethodPorts } from "../transport/grpc/method.ts";
import { answerOnce } from "../transport/grpc/simple-call.ts";
import { Checks, type HealthApi } from "./checks.ts";

const SERVICES = [
  "envoy.service.discovery.v2.HealthDiscoveryService",
  "envoy.service.health.v3.HealthDiscoveryService",
];

/** Stream and Fetch of both API versions, whose messages share their field numbers (B-HDS-01). */
export function healthDiscoveryMethods(discovery: HealthDiscovery, api: HealthApi): ReadonlyMap<string, GrpcMethod> {
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
  call.onGone(
    hub.watchAccess(() => {
      const refusal = checks.admitAgain();
      if (refusal !== undefined) call.end(refusal);
    }),
  );
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

const draining: Status = { code: statusCode.UNAVAILABLE, message: "this server is shutting down; connect anew" };
