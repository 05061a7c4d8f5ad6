import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP/1.1 backend that answers every request with its name. */
export interface Backend extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
}

/** Starts one on a free port. */
export async function startHttpBackend(name: string): Promise<Backend> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader("x-runtime-echo", request.headers["x-e2e"] ?? "");
    response.end(name);
  });
  // Envoy decides when a connection is over: a close that crosses a request would look like a lost one.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve));
  return {
    name,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
