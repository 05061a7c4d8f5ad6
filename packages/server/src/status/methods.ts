import type { ApiVersion } from "@xdskit/protocol";
import type { GrpcMethod } from "../transport/grpc/method.ts";
import { answerEach, answerOnce } from "../transport/grpc/simple-call.ts";
import type { ClientStatus } from "./client-status.ts";

const versions: readonly ApiVersion[] = ["v2", "v3"];

/** Stream and Fetch of both versions (S-CSD-01). A stream gets one answer for each request: it is no watch. */
export function clientStatusMethods(status: ClientStatus): ReadonlyMap<string, GrpcMethod> {
  return new Map(
    versions.flatMap((version): [string, GrpcMethod][] => {
      const service = `/envoy.service.status.${version}.ClientStatusDiscoveryService`;
      return [
        [
          `${service}/StreamClientStatus`,
          (call, { peer }) => answerEach(call, (request) => status.answer(version, request, peer)),
        ],
        [
          `${service}/FetchClientStatus`,
          (call, { peer }) => answerOnce(call, (request) => status.answer(version, request, peer)),
        ],
      ];
    }),
  );
}
