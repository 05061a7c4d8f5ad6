import {
  createRequestReader,
  type DiscoveryMethod,
  NodeSizeError,
  type RequestReader,
  WireError,
} from "@xdskit/envoy-api/internal";
import type { Status, Variant } from "@xdskit/protocol";
import { type DiscoveryRequest, statusCode } from "@xdskit/protocol/internal";
import { refuseNode } from "../node-limit.ts";
import type { GrpcCall } from "./call.ts";
import { inSlices, LARGE_BYTES } from "./in-slices.ts";
import type { Dismiss, GrpcMethod, MethodPorts } from "./method.ts";

/** A discovery stream: passes requests to the hub, and the hub writes to the call (S-GRP-01). */
export function discoveryStream(method: StreamingMethod): GrpcMethod {
  return (call, ports) => serve(call, ports, method);
}

/** A streaming discovery method. */
export type StreamingMethod = Omit<DiscoveryMethod, "call"> & { readonly call: Variant };

function serve(call: GrpcCall, ports: MethodPorts, { path, call: variant, ...method }: StreamingMethod): Dismiss {
  const { hub, connection } = ports;
  const reader = createRequestReader(variant, hub.limits.maxNodeBytes);
  const stream = hub.openStream({ ...method, connection, variant, method: path }, call);
  if (typeof stream !== "number") {
    call.end(stream);
    return () => undefined;
  }
  call.accept({
    onMessage: (bytes) => {
      const receive = (request: DiscoveryRequest | Status): void => {
        if ("code" in request) hub.endStream(stream, request, "malformed");
        else hub.receive(stream, request, bytes.byteLength);
      };
      if (bytes.byteLength < LARGE_BYTES) return receive(readRequest(reader, bytes, ports));
      return readLarge(reader, bytes, ports).then(receive);
    },
    onHalfClose: () => hub.finish(stream),
    onFailure: (status, reason) => hub.endStream(stream, status, reason),
    onClose: (reason) => hub.abandon(stream, reason),
  });
  return (status, reason) => hub.endStream(stream, status, reason);
}

/** As `readRequest`, in slices. */
async function readLarge(
  reader: RequestReader,
  bytes: Uint8Array,
  ports: MethodPorts,
): Promise<DiscoveryRequest | Status> {
  try {
    return await inSlices<DiscoveryRequest>(reader.readInParts(bytes));
  } catch (error) {
    return statusOf(error, ports);
  }
}

/** Decodes a request, or returns the status that ends the call: malformed bytes or a node above the limit. */
export function readRequest(reader: RequestReader, bytes: Uint8Array, ports: MethodPorts): DiscoveryRequest | Status {
  try {
    return reader.read(bytes);
  } catch (error) {
    return statusOf(error, ports);
  }
}

function statusOf(error: unknown, ports: MethodPorts): Status {
  if (error instanceof NodeSizeError) return refuseNode(ports.hub, ports.address, error);
  if (!(error instanceof WireError)) throw error;
  return { code: statusCode.INVALID_ARGUMENT, message: `not a discovery request: ${error.message}` };
}
