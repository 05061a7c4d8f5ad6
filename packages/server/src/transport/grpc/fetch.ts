import { createRequestReader, type DiscoveryMethod, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import type { Status, TypeUrl } from "@xdskit/protocol";
import { type DiscoveryRequest, statusCode } from "@xdskit/protocol/internal";
import type { HubPort, StreamHandle } from "../../hub/port.ts";
import type { GrpcCall } from "./call.ts";
import { messagePrefix } from "./framing.ts";
import type { Dismiss, GrpcMethod, MethodPorts } from "./method.ts";
import { readMessage } from "./read-message.ts";
import { DISCOVERY_REQUEST } from "./stream.ts";

/**
 * A unary Fetch: one request, one response from the current state. To the hub it is a stream that half-closes after its
 * first request; without resources to send it returns an empty response, so it never hangs.
 */
export function discoveryFetch(method: FetchMethod): GrpcMethod {
  return (call, ports) => serve(call, ports, method);
}

/** A unary discovery method of one type. */
export type FetchMethod = Omit<DiscoveryMethod, "call" | "onlyType"> & { readonly onlyType: TypeUrl };

function serve(call: GrpcCall, ports: MethodPorts, { path, onlyType, apiVersion, needs }: FetchMethod): Dismiss {
  const { hub, connection } = ports;
  const reader = createRequestReader("sotw", hub.limits.maxNodeBytes);
  const answer = new FetchAnswer(call, onlyType);
  const opened = { connection, variant: "sotw", onlyType, isFetch: true, apiVersion, method: path } as const;
  const stream = hub.openStream({ ...opened, ...(needs !== undefined && { needs }) }, answer);
  if (typeof stream !== "number") {
    call.end(stream);
    return () => undefined;
  }
  call.accept({
    onMessage: (bytes) => {
      const request = readMessage<DiscoveryRequest>(reader, bytes, { says: DISCOVERY_REQUEST, ports });
      if ("code" in request) hub.endStream(stream, request, "malformed");
      else answer.ask(hub, stream, request, bytes.byteLength);
    },
    onHalfClose: () => answer.expect(hub, stream),
    onFailure: (status, reason) => hub.endStream(stream, status, reason),
    onClose: (reason) => hub.abandon(stream, reason),
  });
  return (status, reason) => hub.endStream(stream, status, reason);
}

/** Passes one message to the call. */
class FetchAnswer implements StreamHandle {
  readonly prefix: (byteLength: number) => Uint8Array;
  readonly #call: GrpcCall;
  #type: TypeUrl;
  #messages = 0;
  #version: string | undefined;
  #isAsked = false;

  constructor(call: GrpcCall, type: TypeUrl) {
    this.#call = call;
    this.#type = type;
    this.prefix = (byteLength) => {
      this.#messages++;
      return messagePrefix(byteLength);
    };
  }

  ask(hub: HubPort, stream: number, request: DiscoveryRequest, bytes: number): void {
    if (this.#isAsked) {
      hub.endStream(stream, { code: statusCode.INVALID_ARGUMENT, message: "a Fetch takes one request" }, "malformed");
      return;
    }
    this.#isAsked = true;
    this.#type = request.type ?? this.#type;
    this.#version = request.kind === "sotw" ? request.versionInfo : undefined;
    hub.receive(stream, request, bytes);
    hub.finish(stream);
  }

  /** The client half-closed: it must have sent a request. */
  expect(hub: HubPort, stream: number): void {
    if (this.#isAsked) return;
    hub.endStream(stream, { code: statusCode.INVALID_ARGUMENT, message: "a Fetch takes one request" }, "malformed");
  }

  write(pieces: readonly Uint8Array[], written: () => void): void {
    this.#call.write(pieces, written);
  }

  end(status: Status): void {
    if (status.code === statusCode.OK && this.#messages === 0) {
      const message = encodeSotwResponse({ typeUrl: this.#type, versionInfo: this.#version ?? "" });
      this.#call.write([messagePrefix(message.byteLength), message], () => undefined);
    }
    this.#call.end(status);
  }

  reset(status: Status): void {
    this.#call.reset(status);
  }
}
