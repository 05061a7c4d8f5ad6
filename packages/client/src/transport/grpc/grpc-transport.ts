import type { EnvoyApi } from "@xdskit/envoy-api";
import { statusCode } from "@xdskit/protocol/internal";
import type { GrpcSource } from "../../config/client-config.ts";
import { encodeRequest, type NodeEncoder } from "../encode-request.ts";
import { endedStream } from "../ended-stream.ts";
import type { ClientStream, NewStream, StreamListener, Transport } from "../transport.ts";
import type { Connections } from "./connection.ts";
import { GrpcCall } from "./grpc-call.ts";
import { describeMissingMethod, methodPath } from "./method.ts";

/** What the gRPC transport needs. */
export interface GrpcTransportOptions {
  readonly api: Pick<EnvoyApi, "traits">;
  readonly encodeNode: NodeEncoder;
  /** Closed with the transport. */
  readonly connections: Connections;
}

/**
 * Discovery over gRPC with grpc-js. Streams to one server share a connection. grpc-js cannot set TCP keepalive;
 * `keepalive`, HTTP/2 pings, detects the same and more (C-CON-01).
 */
export function createGrpcTransport({ api, encodeNode, connections }: GrpcTransportOptions): Transport<GrpcSource> {
  const calls = new Set<GrpcCall>();
  return {
    open({ source, server, onlyType }: NewStream<GrpcSource>, listener: StreamListener): ClientStream {
      const path = methodPath(source, onlyType, api);
      if (path === undefined || server === undefined) {
        const message = describeMissingMethod(source, onlyType);
        return endedStream({ code: statusCode.UNIMPLEMENTED, message }, listener);
      }
      const call: GrpcCall = new GrpcCall({
        path,
        server,
        connections,
        listener: {
          opened: () => listener.opened(),
          message: (bytes) => listener.response(bytes),
          ended: (status) => {
            calls.delete(call);
            listener.ended(status);
          },
        },
      });
      calls.add(call);
      const close = (): void => {
        calls.delete(call);
        call.close();
      };
      return {
        send(request) {
          try {
            call.send(encodeRequest(request, encodeNode));
          } catch (error) {
            close();
            const reason = error instanceof Error ? error.message : String(error);
            listener.ended({
              code: statusCode.INVALID_ARGUMENT,
              message: `the request cannot be encoded: ${reason}`,
            });
          }
        },
        close,
      };
    },
    async close(): Promise<void> {
      for (const call of calls) call.close();
      connections.close();
    },
  };
}
