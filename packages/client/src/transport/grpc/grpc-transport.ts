import type { EnvoyApi } from "@xdskit/envoy-api";
import { type Status, statusCode } from "@xdskit/protocol";
import type { GrpcSource } from "../../config/client-config.ts";
import type { NodeEncoder } from "../encode-request.ts";
import type { ClientStream, NewStream, StreamListener, Transport } from "../transport.ts";
import { Connections } from "./connection.ts";
import { GrpcStream } from "./grpc-stream.ts";
import { describeMissingMethod, methodPath } from "./method.ts";

/** What the transport needs of its client. */
export interface GrpcTransportOptions {
  readonly api: Pick<EnvoyApi, "traits">;
  readonly encodeNode: NodeEncoder;
}

/**
 * Discovery over gRPC, by grpc-js. Streams to one server share a connection. TCP keepalive cannot be set there: `keepalive`, HTTP/2 pings,
 * finds out the same and more (C-CON-01).
 */
export function createGrpcTransport({ api, encodeNode }: GrpcTransportOptions): Transport<GrpcSource> {
  const connections = new Connections();
  const streams = new Set<GrpcStream>();
  return {
    open({ source, server, onlyType }: NewStream<GrpcSource>, listener: StreamListener): ClientStream {
      const path = methodPath(source, onlyType, api);
      if (path === undefined || server === undefined) {
        const message = describeMissingMethod(source, onlyType);
        return endedStream({ code: statusCode.UNIMPLEMENTED, message }, listener);
      }
      const gone = (stream: GrpcStream): void => void streams.delete(stream);
      const stream = new GrpcStream({ path, server, connections, encodeNode, listener, gone });
      streams.add(stream);
      return stream;
    },
    async close(): Promise<void> {
      for (const stream of [...streams]) stream.close();
      connections.close();
    },
  };
}

/** One that cannot even be tried. */
function endedStream(status: Status, listener: StreamListener): ClientStream {
  let isClosed = false;
  queueMicrotask(() => {
    if (!isClosed) listener.ended(status);
  });
  return {
    send() {},
    close() {
      isClosed = true;
    },
  };
}
