import type { EnvoyApi } from "@xdskit/envoy-api";
import { statusCode } from "@xdskit/protocol/internal";
import type { FileSource } from "../../config/client-config.ts";
import { endedStream } from "../ended-stream.ts";
import type { ClientStream, NewStream, StreamListener, Transport } from "../transport.ts";
import { FileStream } from "./file-stream.ts";
import { type WatchDirectory, watchDirectory } from "./path-watch.ts";

/** Options of the file transport. */
export interface FileTransportOptions {
  readonly api: EnvoyApi;
  /**
   * Watches a directory.
   * @default `watch` of `node:fs`
   */
  readonly watchDirectory?: WatchDirectory;
}

/** Discovery from files, each with one `DiscoveryResponse` (C-FS-01). Does not keep the process alive. */
export function createFileTransport(options: FileTransportOptions): Transport<FileSource> {
  const streams = new Set<ClientStream>();
  return {
    open: ({ source, onlyType }: NewStream<FileSource>, listener: StreamListener) => {
      // A file has one type (B-ADS-07).
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
