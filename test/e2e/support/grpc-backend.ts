import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Backend } from "./http-backend.ts";

/**
 * Starts a gRPC backend on a free port: it answers every unary call with its name as the message, and other requests
 * with its name as the body.
 */
export async function startGrpcBackend(name: string): Promise<Backend> {
  const message = Buffer.from(name, "utf8");
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {}); // a client that disconnects
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    const isCall = headers["content-type"]?.startsWith("application/grpc") === true;
    stream.on("error", () => {});
    stream.resume();
    stream.on("end", () => {
      if (stream.destroyed) return;
      if (!isCall) {
        stream.respond({ ":status": 200 });
        stream.end(name);
        return;
      }
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(frame);
    });
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve));
  return {
    name,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
