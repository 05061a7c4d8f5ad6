import type { ApiVersion } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { GrpcMethod, MethodPorts } from "../transport/grpc/method.ts";
import { answerEach, answerOnce, type SimpleAnswer } from "../transport/grpc/simple-call.ts";
import type { ClientStatus } from "./client-status.ts";

const versions: readonly ApiVersion[] = ["v2", "v3"];

/** Stream and Fetch of both API versions (S-CSD-01). A stream gets one response per request, not a watch. */
export function clientStatusMethods(status: ClientStatus): ReadonlyMap<string, GrpcMethod> {
  return new Map(
    versions.flatMap((version): [string, GrpcMethod][] => {
      const service = `/envoy.service.status.${version}.ClientStatusDiscoveryService`;
      const answerWith =
        (ports: MethodPorts) =>
        (request: Uint8Array): Promise<SimpleAnswer> =>
          answer(status, version, request, ports);
      return [
        [`${service}/StreamClientStatus`, (call, ports) => answerEach(call, answerWith(ports))],
        [`${service}/FetchClientStatus`, (call, ports) => answerOnce(call, answerWith(ports))],
      ];
    }),
  );
}

async function answer(
  status: ClientStatus,
  version: ApiVersion,
  request: Uint8Array,
  { hub, peer }: MethodPorts,
): Promise<SimpleAnswer> {
  const said = await status.answer(version, request, peer);
  if ("code" in said && said.code === statusCode.RESOURCE_EXHAUSTED) {
    hub.reportLimit("maxStatusBytes", peer.address, said.message);
  }
  return said;
}
