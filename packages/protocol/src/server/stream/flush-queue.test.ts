import { describe, expect, test } from "vitest";
import { CHANGED_PER_ASKING, FlushQueue } from "./flush-queue.ts";

interface Queued {
  readonly opened: { readonly stream: number };
}

const streamOf = (stream: number): Queued => ({ opened: { stream } });
const changed = "changed";

/** Takes all streams, as they have their turns. */
function takeAll(queue: FlushQueue<Queued>): readonly number[] {
  const taken: number[] = [];
  while (!queue.isEmpty) taken.push(queue.take(queue.takeTurn())?.opened.stream ?? Number.NaN);
  return taken;
}

describe("the rows of streams to be flushed", () => {
  test("have turns, so that many that ask do not delay a change, nor the other way round", () => {
    const queue = new FlushQueue<Queued>();
    const numbers = (from: number, count: number): readonly number[] =>
      Array.from({ length: count }, (_, i) => from + i);
    const ask = (stream: number): void => {
      const one = streamOf(stream);
      queue.add(one);
      queue.asks(one);
    };
    for (const stream of numbers(100, 5)) ask(stream);
    for (const stream of [1, 2]) queue.add(streamOf(stream));
    expect(takeAll(queue)).toEqual([1, 2, ...numbers(100, 5)]);
    for (const stream of numbers(1, 2.5 * CHANGED_PER_ASKING)) queue.add(streamOf(stream));
    for (const stream of numbers(100, 4)) ask(stream);
    expect(takeAll(queue)).toEqual([
      ...[...numbers(1, CHANGED_PER_ASKING), 100],
      ...[...numbers(1 + CHANGED_PER_ASKING, CHANGED_PER_ASKING), 101],
      ...[...numbers(1 + 2 * CHANGED_PER_ASKING, CHANGED_PER_ASKING / 2), 102, 103],
    ]);
  });

  test("have a stream once: one that asks is not put back by a change, and one that waits for nothing does not ask", () => {
    const queue = new FlushQueue<Queued>();
    const [a, b] = [streamOf(1), streamOf(2)];
    queue.asks(a);
    expect([queue.isEmpty, queue.hasAsking]).toEqual([true, false]);
    for (const one of [b, a]) queue.add(one);
    queue.asks(a);
    queue.add(a);
    expect([queue.hasAsking, queue.changed]).toEqual([true, 1]);
    expect([queue.take("asking"), queue.take("asking"), queue.takenChanged]).toEqual([a, undefined, 0]);
    expect([queue.take(changed), queue.take(changed), queue.takenChanged]).toEqual([b, undefined, 1]);
  });
});

test("a stream that asked for something before or while its client did not read asks for it afterwards", () => {
  const queue = new FlushQueue<Queued>();
  const [before, meanwhile, never] = [1, 2, 3].map(streamOf) as [Queued, Queued, Queued];
  for (const one of [before, meanwhile, never]) queue.add(one);
  queue.asks(before);
  const asking = (): readonly boolean[] => [before, meanwhile, never].map((one) => queue.isAsking(one));
  expect(asking()).toEqual([true, false, false]);
  for (const one of [before, meanwhile, never]) queue.stall(one.opened.stream, one);
  queue.asks(meanwhile);
  expect([queue.isEmpty, ...asking()]).toEqual([true, true, true, false]);
  for (const one of [never, before, meanwhile]) queue.resume(one.opened.stream, one);
  expect(asking()).toEqual([true, true, false]);
  expect([queue.take("asking"), queue.take("asking"), queue.take("asking")]).toEqual([before, meanwhile, undefined]);
  expect([queue.take(changed), queue.isEmpty]).toEqual([never, true]);
});

describe("S-GRP-07: the queue of streams to be flushed", () => {
  test("has each stream once, in the order of arrival, and counts those that were taken from the front", () => {
    const queue = new FlushQueue<Queued>();
    const [a, b] = [streamOf(1), streamOf(2)];
    expect([queue.isEmpty, queue.changed, queue.take(changed), queue.takenChanged]).toEqual([true, 0, undefined, 0]);
    for (const one of [a, b, a]) queue.add(one);
    expect([queue.isEmpty, queue.changed]).toEqual([false, 2]);
    for (const _ of ["once", "again"]) queue.remove(b);
    expect([queue.changed, queue.takenChanged]).toEqual([1, 0]);
    expect([queue.take(changed), queue.takenChanged, queue.take(changed), queue.takenChanged]).toEqual([
      a,
      1,
      undefined,
      1,
    ]);
  });

  test("has no stream whose client does not read, until it reads again", () => {
    const queue = new FlushQueue<Queued>();
    const a = streamOf(1);
    queue.add(a);
    queue.stall(1, a);
    queue.add(a);
    expect(queue.changed).toBe(0);
    queue.resume(1, undefined);
    expect(queue.changed).toBe(0);
    queue.add(a);
    expect(queue.take(changed)).toBe(a);
    queue.stall(1, undefined);
    queue.add(a);
    expect(queue.take(changed)).toBeUndefined();
    queue.resume(1, a);
    expect(queue.take(changed)).toBe(a);
  });

  test("has no stream that closed; its number counts as one that reads", () => {
    const queue = new FlushQueue<Queued>();
    const a = streamOf(1);
    queue.add(a);
    queue.forget(1, undefined);
    expect(queue.changed).toBe(1);
    queue.forget(1, a);
    expect(queue.changed).toBe(0);
    queue.stall(1, a);
    queue.forget(1, a);
    queue.add(a);
    expect(queue.take(changed)).toBe(a);
  });
});
