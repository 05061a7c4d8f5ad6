import type { Node, Status } from "@xdskit/protocol";
import { AccountUsage, bytesOfNode, clientBytes, statusCode } from "@xdskit/protocol/internal";
import type { HealthDiscovery } from "../health-discovery.ts";
import { accountOf } from "../hub/account.ts";
import { draining } from "../hub/admission.ts";
import type { Limits } from "../limits.ts";
import type { GrpcCall } from "../transport/grpc/call.ts";
import type { Dismiss, GrpcMethod, MethodPorts } from "../transport/grpc/method.ts";
import { answerOnce } from "../transport/grpc/simple-call.ts";
import { Checks, type HealthApi } from "./checks.ts";

const SERVICES = [
  "envoy.service.discovery.v2.HealthDiscoveryService",
  "envoy.service.health.v3.HealthDiscoveryService",
];

/**
 * Stream and Fetch of both API versions, whose messages share their field numbers (B-HDS-01). The nodes of open calls
 * count against `limits`, apart from those of discovery streams.
 */
export function healthDiscoveryMethods(
  discovery: HealthDiscovery,
  api: HealthApi,
  limits: Pick<Limits, "maxClientBytes" | "maxClientBytesPerPeer" | "maxClientBytesPerIdentity">,
): ReadonlyMap<string, GrpcMethod> {
  const nodes = new AccountUsage(clientBytes, { ...limits, accountOf });
  let last = 0;
  const checksOf = (call: GrpcCall, { hub, peer }: MethodPorts): Checks => {
    const id = ++last;
    call.onGone(() => nodes.forget(id));
    const countNode = (node: Node): Status | undefined => {
      const excess = nodes.set(id, peer, bytesOfNode(node));
      if (excess === undefined) return undefined;
      const { limit, message } = excess;
      hub.reportLimit(limit, peer.address, message);
      return { code: statusCode.RESOURCE_EXHAUSTED, message };
    };
    return new Checks(discovery, api, { hub, peer, countNode });
  };
  return new Map(
    SERVICES.flatMap((service): [string, GrpcMethod][] => [
      [`/${service}/StreamHealthCheck`, (call, ports) => stream(call, ports, checksOf(call, ports))],
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
