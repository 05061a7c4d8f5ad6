import { expect, test } from "vitest";
import { Fifo } from "./fifo.ts";

test("gives each once, in the order in which it came, also when it comes again and after it was empty", () => {
  const [a, b, c] = [{ name: "a" }, { name: "b" }, { name: "c" }];
  const queue = new Fifo<{ readonly name: string }>();
  expect([queue.isEmpty, queue.take()]).toEqual([true, undefined]);
  for (const one of [a, b, a, c]) queue.add(one);
  expect(queue.take()).toBe(a);
  queue.add(a);
  queue.delete(b);
  queue.add(b);
  expect([queue.take(), queue.take(), queue.isEmpty, queue.take()]).toEqual([c, a, false, b]);
  expect([queue.isEmpty, queue.take()]).toEqual([true, undefined]);
  queue.add(b);
  expect([queue.isEmpty, queue.take()]).toEqual([false, b]);
});
