import { createRequestReader, type DiscoveryMethod } from "@xdskit/envoy-api/internal";
import type { Status, Variant } from "@xdskit/protocol";
import type { DiscoveryRequest } from "@xdskit/protocol/internal";
import type { NewStream } from "../../hub/port.ts";
import type { GrpcCall } from "./call.ts";
import type { Dismiss, GrpcMethod, MethodPorts } from "./method.ts";
import { receiveMessage } from "./read-message.ts";

export const DISCOVERY_REQUEST = "a discovery request";

/** A discovery stream: passes requests to the hub, and the hub writes to the call (S-GRP-01). */
export function discoveryStream(method: StreamingMethod): GrpcMethod {
  const { path, call: variant, ...asked } = method;
  const opening = { ...asked, variant, method: path };
  return (call, ports) => serve(call, ports, opening);
}

/** A streaming discovery method. */
export type StreamingMethod = Omit<DiscoveryMethod, "call"> & { readonly call: Variant };

function serve(call: GrpcCall, ports: MethodPorts, opening: Omit<NewStream, "connection">): Dismiss {
  const { hub, connection } = ports;
  const reader = createRequestReader(opening.variant, hub.limits.maxNodeBytes);
  const stream = hub.openStream(Object.assign({}, opening, { connection }), call);
  if (typeof stream !== "number") {
    call.end(stream);
    return () => undefined;
  }
  const reading = { says: DISCOVERY_REQUEST, ports };
  const receive = (request: DiscoveryRequest | Status, byteLength: number): void => {
    if ("code" in request) hub.endStream(stream, request, "malformed");
    else hub.receive(stream, request, byteLength);
  };
  call.accept({
    onMessage: (bytes) => receiveMessage<DiscoveryRequest>(reader, bytes, reading, receive),
    onHalfClose: () => hub.finish(stream),
    onFailure: (status, reason) => hub.endStream(stream, status, reason),
    onClose: (reason) => hub.abandon(stream, reason),
  });
  return (status, reason) => hub.endStream(stream, status, reason);
}
