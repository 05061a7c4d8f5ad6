import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { closing } from "./closing.ts";
import { LONG_PATH } from "./long-response.ts";

/** Answered late, so that a health check of it takes long. */
export const SLOW_PATH = "/slow";
const SLOW_MS = 2_500;

/**
 * An HTTP/1.1 backend that answers every request with its name, `SLOW_PATH` after 2.5 seconds, and `LONG_PATH` with an endless
 * response.
 */
export interface Backend extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
}

const CHUNK_EVERY_MS = 50;

/** Starts a backend on a free port; `onRequest` is called for each request. */
export async function startHttpBackend(name: string, onRequest: () => void = () => {}): Promise<Backend> {
  const server = createServer((request, response) => {
    request.resume();
    onRequest();
    if (request.url === LONG_PATH) {
      answerWithoutEnd(response);
      return;
    }
    response.setHeader("x-runtime-echo", request.headers["x-e2e"] ?? "");
    if (request.url === SLOW_PATH) setTimeout(() => response.end(name), SLOW_MS).unref();
    else response.end(name);
  });
  // Envoy closes idle connections: a close by the backend could cross a request and look like a loss.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  const close = closing(server);
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve));
  return {
    name,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: close,
  };
}

function answerWithoutEnd(response: ServerResponse): void {
  let next = 0;
  const send = (): void => {
    response.write(`${next++}\n`);
  };
  const timer = setInterval(send, CHUNK_EVERY_MS);
  response.on("close", () => clearInterval(timer));
  send();
}
