import { Writable } from "node:stream";
import { expect, test, vi } from "vitest";
import { nextTurn } from "../../next-turn.ts";
import { sinkOf, writeBody } from "./write-body.ts";

test.each([0, 1, 262_144, 262_145, 1_000_000])("of %i bytes one slice at a time waits to leave", async (length) => {
  const body = Buffer.alloc(length, "x");
  const sizes: number[] = [];
  let takenSlices = 0;
  let mostWaiting = 0;
  const response = new Writable({
    write(chunk: Buffer, _, done) {
      sizes.push(chunk.length);
      mostWaiting = Math.max(mostWaiting, response.writableLength);
      setImmediate(done);
    },
  });
  const finished = new Promise<void>((resolve) => response.once("finish", () => resolve()));
  writeBody(sinkOf(response), body, () => takenSlices++);
  await finished;
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(length);
  expect(mostWaiting).toBeLessThanOrEqual(262_144);
  expect(takenSlices).toBe(Math.max(0, Math.ceil(length / 262_144) - 1));
});

test("a body that its socket takes at once is written in as many turns as it has slices", async () => {
  let turn = 0;
  const turns: number[] = [];
  const response = new Writable({
    write(_chunk, _, done) {
      turns.push(turn);
      done();
    },
  });
  const finished = new Promise<void>((resolve) => response.once("finish", () => resolve()));
  writeBody(sinkOf(response), Buffer.alloc(1_000_000), () => undefined);
  for (; !response.writableFinished; turn++) await nextTurn();
  await finished;
  expect(new Set(turns).size).toBe(4);
});

test("a response that is destroyed between two slices is not written to", async () => {
  const response = new Writable({ write: (_chunk, _encoding, done) => done() });
  const [written, ended] = [vi.spyOn(response, "write"), vi.spyOn(response, "end")];
  writeBody(sinkOf(response), Buffer.alloc(400_000), () => response.destroy());
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect([written.mock.calls.length, ended.mock.calls.length]).toEqual([1, 0]);
});
