import { expect, test } from "vitest";
import { EffectQueue } from "./effect-queue.ts";

test("effects that an effect leads to follow those that wait already", () => {
  const performed: string[] = [];
  const queue = new EffectQueue<string>((effect) => {
    performed.push(effect);
    if (effect === "a") queue.add(["a1", "a2"]);
  });
  queue.add(["a", "b"]);
  expect(performed).toEqual(["a", "b", "a1", "a2"]);
});

test("an effect that throws drops those behind it, and the queue goes on with the next", () => {
  const performed: string[] = [];
  const queue = new EffectQueue<string>((effect) => {
    if (effect === "bad") throw new Error("bad effect");
    performed.push(effect);
  });
  expect(() => queue.add(["bad", "lost"])).toThrow("bad effect");
  queue.add(["next"]);
  expect(performed).toEqual(["next"]);
});
