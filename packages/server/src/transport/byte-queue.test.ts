import { expect, test } from "vitest";
import { ByteQueue } from "./byte-queue.ts";

/** Chunks of so many bytes, each a view of a read of 64 KB, as they come from a socket. */
function chunksOf(bytes: Uint8Array, size: number): readonly Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, i) => {
    const read = new Uint8Array(64 * 1024);
    const part = bytes.subarray(i * size, (i + 1) * size);
    read.set(part);
    return read.subarray(0, part.byteLength);
  });
}

const bytes = Uint8Array.from({ length: 5_000 }, (_, i) => i % 251);

test.each([1, 7, 1_000, 4_999])("in chunks of %i no more memory is kept than twice what came", (size) => {
  const queue = new ByteQueue();
  let pushed = 0;
  for (const chunk of chunksOf(bytes, size)) {
    queue.push(chunk, bytes.byteLength);
    queue.keep(bytes.byteLength);
    pushed += chunk.byteLength;
    expect(queue.length).toBe(pushed);
    expect(queue.keptBytes).toBeLessThanOrEqual(Math.max(256, Math.min(2 * pushed, bytes.byteLength)));
  }
  expect(queue.take(bytes.byteLength)).toEqual(bytes);
  expect([queue.length, queue.keptBytes]).toEqual([0, 0]);
});

test("what was taken does not change when more comes", () => {
  const queue = new ByteQueue();
  const taken: Uint8Array[] = [];
  for (const chunk of chunksOf(bytes, 13)) {
    queue.push(chunk);
    queue.keep();
    if (queue.length > 40) taken.push(queue.take(31));
  }
  taken.push(queue.take(queue.length));
  expect(Buffer.concat(taken)).toEqual(Buffer.from(bytes));
});

test("a chunk that is taken at once is not copied", () => {
  const queue = new ByteQueue();
  queue.push(bytes);
  expect(queue.keptBytes).toBe(0);
  expect(queue.take(10).buffer).toBe(bytes.buffer);
});

test.each([true, false])("bytes are read in place and thrown away (kept: %s)", (isKept) => {
  const queue = new ByteQueue();
  queue.push(bytes.subarray(0, 4));
  if (isKept) queue.keep();
  expect([queue.at(0), queue.at(3), queue.length]).toEqual([0, 3, 4]);
  queue.skip(3);
  expect([queue.at(0), queue.length]).toEqual([3, 1]);
  queue.skip(1);
  expect([queue.length, queue.keptBytes]).toEqual([0, 0]);
  queue.push(bytes.subarray(7, 9));
  expect(queue.take(2)).toEqual(bytes.subarray(7, 9));
});
