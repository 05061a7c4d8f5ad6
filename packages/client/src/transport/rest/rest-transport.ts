import type { EnvoyApi } from "@xdskit/envoy-api";
import { pathsWithoutRest, restPaths } from "@xdskit/envoy-api/internal";
import type { ApiVersion, TypeUrl } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { RestSource, ServerConfig } from "../../config/client-config.ts";
import { endedStream } from "../ended-stream.ts";
import type { ClientStream, NewStream, StreamListener, Transport } from "../transport.ts";
import { createHttpCaller, type HttpCaller } from "./http-caller.ts";
import { RestStream } from "./rest-stream.ts";

/** Options of the REST transport. */
export interface RestTransportOptions {
  readonly api: EnvoyApi;
  /** The encoded current `core.v3.Node`; read for each poll (C-RST-08). */
  readonly node: () => Uint8Array;
  /**
   * Returns a number from 0 up to, not including, 1.
   * @default Math.random
   */
  readonly random?: () => number;
}

/**
 * Discovery by polls: HTTP/1.1 with JSON, one request at a time per stream (C-RST-06). Its timers do not keep the
 * process alive; a poll in progress does.
 */
export function createRestTransport(options: RestTransportOptions): Transport<RestSource> {
  return new RestTransport(options);
}

class RestTransport implements Transport<RestSource> {
  readonly #options: RestTransportOptions;
  /** Connections to a server are kept while it has streams. */
  readonly #callers = new Map<ServerConfig, { readonly caller: HttpCaller; streams: number }>();
  readonly #streams = new Set<ClientStream>();

  constructor(options: RestTransportOptions) {
    this.#options = options;
  }

  open({ source, server, onlyType }: NewStream<RestSource>, listener: StreamListener): ClientStream {
    const found = findPath(source.apiVersion, onlyType);
    if ("problem" in found) return endedStream({ code: statusCode.UNIMPLEMENTED, message: found.problem }, listener);
    const refuse = (message: string): ClientStream =>
      endedStream({ code: statusCode.INVALID_ARGUMENT, message }, listener);
    if (server === undefined) return refuse("expected a server, got none");
    const caller = this.#acquire(server);
    if ("problem" in caller) return refuse(caller.problem);
    let isEnded = false;
    const stream = new RestStream({
      api: this.#options.api,
      node: this.#options.node,
      random: this.#options.random ?? Math.random,
      source,
      ...found,
      caller,
      listener,
      onEnd: () => {
        isEnded = true;
        this.#streams.delete(stream);
        this.#release(server);
      },
    });
    this.#streams.add(stream);
    queueMicrotask(() => {
      if (!isEnded) listener.opened();
    });
    return stream;
  }

  async close(): Promise<void> {
    for (const stream of [...this.#streams]) stream.close();
  }

  #acquire(server: ServerConfig): HttpCaller | { readonly problem: string } {
    const known = this.#callers.get(server);
    if (known !== undefined) {
      known.streams++;
      return known.caller;
    }
    const caller = createHttpCaller(server);
    if (!("problem" in caller)) this.#callers.set(server, { caller, streams: 1 });
    return caller;
  }

  #release(server: ServerConfig): void {
    const known = this.#callers.get(server);
    if (known === undefined || --known.streams > 0) return;
    known.caller.close();
    this.#callers.delete(server);
  }
}

/** Only single types have paths (B-RST-05, B-ADS-07). */
function findPath(
  apiVersion: ApiVersion,
  type: TypeUrl | undefined,
): { readonly path: string; readonly type: TypeUrl } | { readonly problem: string } {
  if (type === undefined) {
    return { problem: pathsWithoutRest.get("/v3/discovery:aggregated") ?? "there is no ADS over REST" };
  }
  const found = restPaths.find((one) => one.apiVersion === apiVersion && (one.type === type || one.twin === type));
  return found === undefined
    ? { problem: `there is no path for ${type} in ${apiVersion} over REST; use gRPC` }
    : { path: found.path, type };
}
