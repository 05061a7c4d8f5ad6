import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import type { RunningServer, Target } from "../../src/target/target.ts";

/** What a server does with a stream. */
export type Answer = (stream: ServerHttp2Stream) => void;

/** A target that accepts every stream and every commit, and does this with each stream. */
export function targetThat(answer: Answer): Target {
  return {
    name: "bad",
    pace: { deadlineMs: 20, quietMs: 0, hasFence: false },
    tellsBookings: true,
    isExact: true,
    hasRest: true,
    start: () => startThat(answer),
    async [Symbol.asyncDispose]() {},
  };
}

async function startThat(answer: Answer): Promise<RunningServer> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session.on("error", () => {})));
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    answer(stream);
    stream.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async commit() {},
    async place() {},
    takeBookings: () => [],
    async stop() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
