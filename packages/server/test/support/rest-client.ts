import { once } from "node:events";
import { Agent, request as http1Request } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import type { ServerResponse } from "./rest-response.ts";

/** One request, whole. */
export interface RestCall {
  /** Default: POST. */
  readonly method?: string;
  readonly path: string;
  /** An object is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** More of the body seems to come, and never does. */
  readonly isUnfinished?: boolean;
}

/** A request that may be given up. */
export interface PendingCall {
  readonly response: Promise<ServerResponse>;
  abort(): void;
}

/** A client over one version of HTTP, on connections that are kept. */
export interface RestClient {
  start(call: RestCall): PendingCall;
  send(call: RestCall): Promise<ServerResponse>;
  close(): Promise<void>;
}

export const httpVersions = ["HTTP/1.1", "HTTP/2"] as const;
export type HttpVersion = (typeof httpVersions)[number];

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function restClient(version: HttpVersion, address: Address): RestClient {
  const start = version === "HTTP/1.1" ? overHttp1(address) : overHttp2(address);
  return { ...start, send: (call) => start.start(call).response };
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function overHttp1({ host, port }: Address): Omit<RestClient, "send"> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return {
    start({ method = "POST", path, body, headers = {}, isUnfinished = false }) {
      const bytes = bytesOf(body);
      const length = isUnfinished ? bytes.length + 1 : bytes.length;
      const all = { "content-type": "application/json", "content-length": length, ...headers };
      const request = http1Request({ host, port, agent, method, path, headers: all });
      if (isUnfinished) request.write(bytes);
      else request.end(bytes);
      const response = (async (): Promise<ServerResponse> => {
        const [incoming] = await once(request, "response");
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk);
        return { status: incoming.statusCode, headers: incoming.headers, bytes: Buffer.concat(chunks) };
      })();
      response.catch(() => undefined);
      return { response, abort: () => request.destroy() };
    },
    async close() {
      agent.destroy();
    },
  };
}

function overHttp2({ host, port }: Address): Omit<RestClient, "send"> {
  let session: ClientHttp2Session | undefined;
  const open = (): ClientHttp2Session => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(`http://${host}:${port}`);
      session.on("error", () => undefined);
    }
    return session;
  };
  return {
    start({ method = "POST", path, body, headers = {}, isUnfinished = false }) {
      const bytes = bytesOf(body);
      const stream = open().request({
        ":method": method,
        ":path": path,
        "content-type": "application/json",
        ...headers,
      });
      stream.on("error", () => undefined);
      if (isUnfinished) stream.write(bytes);
      else if (stream.writable) stream.end(bytes);
      const closed = once(stream, "close").then(() => {
        throw new Error("the stream was closed before it was answered");
      });
      closed.catch(() => undefined);
      const response = (async (): Promise<ServerResponse> => {
        const [incoming] = await Promise.race([once(stream, "response"), closed]);
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk);
        return { status: incoming[":status"], headers: incoming, bytes: Buffer.concat(chunks) };
      })();
      response.catch(() => undefined);
      return { response, abort: () => stream.close(8) };
    },
    async close() {
      if (session === undefined) return;
      session.destroy();
    },
  };
}
