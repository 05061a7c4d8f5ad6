import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";

/** A request that came, and the way to answer it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly atMs: number;
  /** The client gave it up. */
  isAborted: boolean;
  answer(status: number, body?: unknown): void;
  readonly response: ServerResponse;
}

/** A server that does what the test says. */
export interface ScriptedHttp {
  readonly port: number;
  readonly received: Received[];
  /** Resolves with the next request that was not handed out. */
  next(): Promise<Received>;
  /** The most that were unanswered at a time. */
  readonly mostOpen: number;
  close(): Promise<void>;
}

/** Answers every request as `script` does; without one, the test answers. */
export async function scriptedHttp(
  script: (received: Received) => void = () => undefined,
  tls?: ServerOptions,
): Promise<ScriptedHttp> {
  const received: Received[] = [];
  const wakes: (() => void)[] = [];
  let handedOut = 0;
  let open = 0;
  let mostOpen = 0;
  const take = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const atMs = performance.now();
    open++;
    mostOpen = Math.max(mostOpen, open);
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const one: Received = {
      method: message.method ?? "",
      path: message.url ?? "",
      headers: message.headers,
      text: Buffer.concat(chunks).toString(),
      atMs,
      isAborted: false,
      response,
      answer(status, body) {
        response.statusCode = status;
        response.end(
          body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
        );
      },
    };
    response.once("close", () => {
      open--;
      one.isAborted = !response.writableFinished;
    });
    received.push(one);
    for (const wake of wakes.splice(0)) wake();
    script(one);
  };
  const listener: RequestListener = (message, response) => {
    Promise.resolve(take(message, response)).catch(() => response.destroy());
  };
  const http: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    port: (http.address() as AddressInfo).port,
    received,
    async next() {
      while (received.length <= handedOut) await new Promise<void>((resolve) => wakes.push(resolve));
      const one = received[handedOut++];
      if (one === undefined) throw new Error("there is one");
      return one;
    },
    get mostOpen() {
      return mostOpen;
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
