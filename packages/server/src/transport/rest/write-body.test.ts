import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { writeBody } from "./write-body.ts";

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
  writeBody(response, body, () => takenSlices++);
  await finished;
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(length);
  expect(mostWaiting).toBeLessThanOrEqual(262_144);
  expect(takenSlices).toBe(Math.max(0, Math.ceil(length / 262_144) - 1));
});
