import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { serverCases } from "../src/cases/server/cases.ts";
import { playOverTheWire } from "../src/play/over-the-wire.ts";
import { playsOf } from "../src/play/plays.ts";
import type { RunningServer, Target } from "../src/target/target.ts";

type Answer = (stream: ServerHttp2Stream) => void;

/** Accepts every stream and every commit, and answers each stream so. */
function targetThat(answer: Answer): Target {
  return {
    name: "bad",
    pace: { deadlineMs: 20, quietMs: 0, hasFence: false },
    tellsBookings: true,
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

const grpc = { ":status": 200, "content-type": "application/grpc" };
const all = playsOf(serverCases.filter(({ memoryOnly }) => memoryOnly === undefined));

async function passedAgainst(target: Target, plays: typeof all): Promise<readonly string[]> {
  const passed: string[] = [];
  const left = [...plays];
  const work = async (): Promise<void> => {
    for (let play = left.shift(); play !== undefined; play = left.shift()) {
      if ((await playOverTheWire(play, target)).passed) passed.push(play.key);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return passed;
}

test("no case passes over the wire against a server that never says a word", async () => {
  expect(
    await passedAgainst(
      targetThat((stream) => stream.respond(grpc)),
      all,
    ),
  ).toEqual([]);
  expect(all.length).toBeGreaterThan(400);
});

test.each<[string, Answer]>([
  [
    "that sends what is no message",
    (stream) => {
      stream.respond(grpc);
      stream.write(Uint8Array.of(0, 0, 0, 0, 2, 255, 255));
    },
  ],
  [
    "that ends each stream at once",
    (stream) => {
      stream.respond({ ...grpc, "grpc-status": 2 }, { endStream: true });
    },
  ],
])("a server %s fails cases, and keeps none from being played", async (_, answer) => {
  const some = all.filter((__, i) => i % 10 === 0);
  expect(await passedAgainst(targetThat(answer), some)).toEqual([]);
});
