import type { EnvoyApi } from "@xdskit/envoy-api";
import { statusCode } from "@xdskit/protocol";
import type { FileSource } from "../../config/client-config.ts";
import { endedStream } from "../ended-stream.ts";
import type { ClientStream, NewStream, StreamListener, Transport } from "../transport.ts";
import { FileStream } from "./file-stream.ts";
import { type WatchDirectory, watchDirectory } from "./path-watch.ts";

/** What a transport over files needs. */
export interface FileTransportOptions {
  readonly api: EnvoyApi;
  /** How directories are watched; `watch` of `node:fs` unless set. */
  readonly watchDirectory?: WatchDirectory;
}

/** Discovery by files that hold a `DiscoveryResponse` each (C-FS-01). Nothing in it keeps a process alive. */
export function createFileTransport(options: FileTransportOptions): Transport<FileSource> {
  const streams = new Set<ClientStream>();
  return {
    open: ({ source, onlyType }: NewStream<FileSource>, listener: StreamListener) => {
      // A file is of one type (B-ADS-07).
      if (onlyType === undefined)
        return endedStream({ code: statusCode.UNIMPLEMENTED, message: "there is no ADS over files" }, listener);
      const stream = new FileStream({
        api: options.api,
        source,
        type: onlyType,
        listener,
        watchDirectory: options.watchDirectory ?? watchDirectory,
        onEnd: () => streams.delete(stream),
      });
      streams.add(stream);
      stream.start().catch((error: unknown) => {
        stream.close();
        listener.ended({ code: statusCode.INTERNAL, message: String(error) });
      });
      return stream;
    },
    async close() {
      for (const stream of [...streams]) stream.close();
    },
  };
}
