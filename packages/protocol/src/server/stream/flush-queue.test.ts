import { describe, expect, test } from "vitest";
import { FlushQueue } from "./flush-queue.ts";

interface Queued {
  readonly opened: { readonly stream: number };
}

const streamOf = (stream: number): Queued => ({ opened: { stream } });

describe("S-GRP-07: the queue of streams to be flushed", () => {
  test("has each stream once, in the order of arrival, and counts those that were taken from the front", () => {
    const queue = new FlushQueue<Queued>();
    const [a, b] = [streamOf(1), streamOf(2)];
    expect([queue.isEmpty, queue.size, queue.take(), queue.taken]).toEqual([true, 0, undefined, 0]);
    for (const one of [a, b, a]) queue.add(one);
    expect([queue.isEmpty, queue.size]).toEqual([false, 2]);
    expect([queue.takeAhead(b), queue.takeAhead(b), queue.taken]).toEqual([true, false, 0]);
    expect([queue.take(), queue.taken, queue.take(), queue.taken]).toEqual([a, 1, undefined, 1]);
  });

  test("has no stream whose client does not read, until it reads again", () => {
    const queue = new FlushQueue<Queued>();
    const a = streamOf(1);
    queue.add(a);
    queue.stall(1, a);
    queue.add(a);
    expect(queue.size).toBe(0);
    queue.resume(1, undefined);
    expect(queue.size).toBe(0);
    queue.add(a);
    expect(queue.take()).toBe(a);
    queue.stall(1, undefined);
    queue.add(a);
    expect(queue.take()).toBeUndefined();
    queue.resume(1, a);
    expect(queue.take()).toBe(a);
  });

  test("has no stream that closed; its number counts as one that reads", () => {
    const queue = new FlushQueue<Queued>();
    const a = streamOf(1);
    queue.add(a);
    queue.forget(1, undefined);
    expect(queue.size).toBe(1);
    queue.forget(1, a);
    expect(queue.size).toBe(0);
    queue.stall(1, a);
    queue.forget(1, a);
    queue.add(a);
    expect(queue.take()).toBe(a);
  });
});
