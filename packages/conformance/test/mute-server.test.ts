import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { serverCases } from "../src/cases/server/cases.ts";
import { playOverTheWire } from "../src/play/over-the-wire.ts";
import { playsOf } from "../src/play/plays.ts";
import type { RunningServer, Target } from "../src/target/target.ts";

/** Accepts every stream and every commit, and never says a word. */
const mute: Target = {
  name: "mute",
  pace: { deadlineMs: 20, quietMs: 0, hasFence: false },
  tellsBookings: true,
  hasRest: true,
  start: startMute,
  async [Symbol.asyncDispose]() {},
};

async function startMute(): Promise<RunningServer> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session.on("error", () => {})));
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
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

test("no case passes over the wire against a server that never says a word", async () => {
  const plays = playsOf(serverCases.filter(({ memoryOnly }) => memoryOnly === undefined));
  const passed: string[] = [];
  const left = [...plays];
  const work = async (): Promise<void> => {
    for (let play = left.shift(); play !== undefined; play = left.shift()) {
      if ((await playOverTheWire(play, mute)).passed) passed.push(play.key);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  expect(passed).toEqual([]);
  expect(plays.length).toBeGreaterThan(400);
});
