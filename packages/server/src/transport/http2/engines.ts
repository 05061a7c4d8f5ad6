import type { Socket } from "node:net";
import type { Http2Engine } from "../../options.ts";
import type { Http2Connection, Http2Listener, Http2Options } from "./http2.ts";
import { NodeConnection } from "./node-connection.ts";
import { SocketConnection } from "./socket-connection.ts";

export const DEFAULT_HTTP2_ENGINE: Http2Engine = "builtin";

/** Starts HTTP/2 on a socket, as the server. */
export type OpenHttp2 = (socket: Socket, options: Http2Options, listener: Http2Listener) => Http2Connection;

export const http2Engines: Readonly<Record<Http2Engine, OpenHttp2>> = {
  node: (socket, options, listener) => new NodeConnection(socket, options, listener),
  builtin: (socket, options, listener) => new SocketConnection(socket, options, listener),
};
