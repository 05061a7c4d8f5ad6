import { createLoadReportReader, encodeLoadRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, type LoadReport } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { draining } from "../hub/admission.ts";
import type { GrpcCall } from "../transport/grpc/call.ts";
import { guard } from "../transport/grpc/guard.ts";
import type { Dismiss, GrpcMethod, MethodPorts } from "../transport/grpc/method.ts";
import { receiveMessage } from "../transport/grpc/read-message.ts";
import type { LoadReporting } from "./load-reporting.ts";

/** `StreamLoadStats` of both API versions. */
export function loadReportMethods(loads: LoadReporting): ReadonlyMap<string, GrpcMethod> {
  const method: GrpcMethod = (call, ports) => serve(call, ports, loads);
  return new Map(
    ["v2", "v3"].map((version) => [
      `/envoy.service.load_stats.${version}.LoadReportingService/StreamLoadStats`,
      method,
    ]),
  );
}

function serve(call: GrpcCall, ports: MethodPorts, loads: LoadReporting): Dismiss {
  const { hub, peer } = ports;
  const reporter = loads.open(peer, (request) => void call.send(encodeLoadRequest(request)));
  if (typeof reporter !== "number") {
    call.end(reporter);
    return () => undefined;
  }
  const reader = createLoadReportReader(hub.limits.maxNodeBytes);
  const unwatch = hub.readiness.watch(() => {
    if (hub.readiness.state === "draining") call.end(draining);
  });
  let isAdmitted = false;
  /** Ends the call if it is refused by its first report. */
  const admit = ({ node = anonymousNode }: LoadReport): void => {
    if (!guard(call, ports, "lrs", node)) return;
    const excess = loads.countNode(reporter, node);
    if (excess === undefined) isAdmitted = true;
    else call.end(excess);
  };
  const read = async (bytes: Uint8Array): Promise<LoadReport | undefined> => {
    let admitted: LoadReport | undefined;
    await receiveMessage<LoadReport>(reader, bytes, { says: "a load report", ports }, (report) => {
      if ("code" in report) {
        call.end(report);
        return;
      }
      if (!isAdmitted) admit(report);
      if (isAdmitted) admitted = report;
    });
    return admitted;
  };
  call.accept({
    onMessage: (bytes) => loads.receive(reporter, () => read(bytes)),
    onHalfClose: () => call.end({ code: statusCode.OK, message: "" }),
    onFailure: (status) => call.end(status),
    onClose: () => {
      unwatch();
      loads.close(reporter);
    },
  });
  return (status) => call.end(status);
}
