import type { NodeSizeError } from "@xdskit/envoy-api/internal";
import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { HubPort } from "../hub/port.ts";

/** Counts a hit of the node size limit and returns the client's status. */
export function refuseNode(hub: HubPort, address: string, error: NodeSizeError): Status {
  const message = `${error.message} (maxNodeBytes)`;
  hub.reportLimit("maxNodeBytes", address, message);
  return { code: statusCode.RESOURCE_EXHAUSTED, message };
}
