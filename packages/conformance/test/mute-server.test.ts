import { expect, test } from "vitest";
import { serverCases } from "../src/cases/server/cases.ts";
import { playOverTheWire } from "../src/play/over-the-wire.ts";
import { playsOf } from "../src/play/plays.ts";
import type { Target } from "../src/target/target.ts";
import { type Answer, targetThat } from "./support/bad-target.ts";

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
