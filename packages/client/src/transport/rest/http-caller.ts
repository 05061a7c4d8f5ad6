import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { startTimer } from "@xdskit/disk";
import { statusCode } from "@xdskit/protocol/internal";
import type { ServerConfig } from "../../config/client-config.ts";
import { bufferOf, createTlsReader, type TlsMaterial, type TlsReader } from "../tls/tls-material.ts";
import { failed, type PollAnswer, readAnswer } from "./http-answer.ts";
import { type Endpoint, formatEndpoint, parseTarget } from "./target.ts";

/** One poll. */
export interface Poll {
  readonly path: string;
  readonly body: Uint8Array;
  /** For the whole poll, to the last byte of the response. */
  readonly timeoutMs: number;
  /** Cancels the poll; its result is then ignored. */
  readonly signal: AbortSignal;
}

/** Polls one server over keep-alive connections. */
export interface HttpCaller {
  /** Never rejects. */
  call(poll: Poll): Promise<PollAnswer>;
  close(): void;
}

/** Returns a problem if the target is invalid. */
export function createHttpCaller(server: ServerConfig): HttpCaller | { readonly problem: string } {
  const endpoints = parseTarget(server.target, server.tls === undefined ? 80 : 443);
  if (endpoints === undefined)
    return { problem: `expected a target such as "dns:///HOST:PORT", got "${server.target}"` };
  const settings = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  const agent = server.tls === undefined ? new HttpAgent(settings) : new HttpsAgent(settings);
  const tlsReader = server.tls === undefined ? undefined : createTlsReader(server.tls);
  let turn = 0;
  return {
    async call(poll) {
      const endpoint = endpoints[turn % endpoints.length];
      if (endpoint === undefined) return failed(statusCode.UNAVAILABLE, "the target names no address");
      const answer = await callEndpoint({ server, endpoint, agent, tlsReader, poll });
      // The next poll tries another address of the server.
      if (answer.kind === "failed") turn++;
      return answer;
    },
    close: () => agent.destroy(),
  };
}

interface Call {
  readonly server: ServerConfig;
  readonly endpoint: Endpoint;
  readonly agent: HttpAgent | HttpsAgent;
  readonly tlsReader: TlsReader | undefined;
  readonly poll: Poll;
}

async function callEndpoint(call: Call): Promise<PollAnswer> {
  const { server, endpoint, poll } = call;
  const place = `${server.tls === undefined ? "http" : "https"}://${formatEndpoint(endpoint)}${poll.path}`;
  const deadline = new AbortController();
  const timer = startTimer(poll.timeoutMs, () => deadline.abort());
  const giveUp = (): void => deadline.abort();
  poll.signal.addEventListener("abort", giveUp, { once: true });
  try {
    const answer = await send(call, deadline.signal);
    // A body without a length ends in good order when the connection is cut, here by the deadline.
    deadline.signal.throwIfAborted();
    if (answer.kind !== "failed") return answer;
    return failed(answer.status.code, `${place}: ${answer.status.message}`);
  } catch (error) {
    const isLate = deadline.signal.aborted && !poll.signal.aborted;
    if (isLate) return failed(statusCode.DEADLINE_EXCEEDED, `${place}: no answer within ${poll.timeoutMs} ms`);
    return failed(statusCode.UNAVAILABLE, `${place}: ${reasonOf(error)}`);
  } finally {
    timer.cancel();
    poll.signal.removeEventListener("abort", giveUp);
  }
}

async function send(call: Call, signal: AbortSignal): Promise<PollAnswer> {
  const tls = await call.tlsReader?.();
  const maxBytes = call.server.maxResponseBytes;
  try {
    return await readAnswer(await start(call, tls, signal).message, maxBytes);
  } catch (error) {
    if (!(error instanceof StaleConnectionError)) throw error;
    // The server closed a kept connection before it read this request, so it is sent again.
    return await readAnswer(await start(call, tls, signal).message, maxBytes);
  }
}

/** A kept connection is closed. */
class StaleConnectionError extends Error {}

function start(
  call: Call,
  tls: TlsMaterial | undefined,
  signal: AbortSignal,
): { readonly message: Promise<IncomingMessage> } {
  const { server, poll } = call;
  const request =
    tls === undefined
      ? httpRequest(requestOptions(call, signal))
      : httpsRequest({ ...requestOptions(call, signal), ...secureOptions(tls) });
  request.on("socket", (socket) => prepare(socket, server, request));
  const message = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    // Stays attached: the connection may break after the response began, which the response reports.
    request.on("error", (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && error.code === "ECONNRESET" && !signal.aborted;
      reject(isStale ? new StaleConnectionError(error.message, { cause: error }) : error);
    });
    // A server that switches protocols causes neither event.
    request.once("close", () => reject(new Error("the connection was closed without an answer")));
  });
  request.end(poll.body);
  return { message };
}

function requestOptions({ server, endpoint, agent, poll }: Call, signal: AbortSignal): RequestOptions {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of server.headers) {
    const key = name.toLowerCase();
    const before = headers[key];
    headers[key] = before === undefined ? value : [before, value].flat();
  }
  return {
    ...endpoint,
    agent,
    signal,
    method: "POST",
    path: poll.path,
    headers: {
      host: "socketPath" in endpoint ? "localhost" : formatEndpoint(endpoint),
      // Envoy's header: how long the server may hold a poll until something changes.
      "x-envoy-expected-rq-timeout-ms": String(poll.timeoutMs),
      ...headers,
      "content-type": "application/json",
      "content-length": poll.body.byteLength,
    },
  };
}

/** Only polls with equal options share a connection, so rotated certificates take effect at once. */
function secureOptions({ ca, cert, key, serverName }: TlsMaterial): RequestOptions & { servername?: string } {
  return {
    ...(ca !== undefined && { ca: bufferOf(ca) }),
    ...(cert !== undefined && { cert: bufferOf(cert) }),
    ...(key !== undefined && { key: bufferOf(key) }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

function prepare(socket: Socket, { tcpKeepalive, connectTimeoutMs, tls }: ServerConfig, request: ClientRequest): void {
  if (tcpKeepalive !== undefined) socket.setKeepAlive(true, tcpKeepalive.idleMs ?? 0);
  if (!socket.connecting || connectTimeoutMs <= 0) return;
  const late = new Error(`no connection within ${connectTimeoutMs} ms`);
  const timer = startTimer(connectTimeoutMs, () => request.destroy(late));
  const stop = (): void => timer.cancel();
  socket.once(tls === undefined ? "connect" : "secureConnect", stop);
  socket.once("close", stop);
}

/** If all addresses of a name fail, Node.js gives one error without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
