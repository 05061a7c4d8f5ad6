import type { Steps } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { nextTurn } from "./next-turn.ts";
import { SliceQueue } from "./slice-queue.ts";

const none = (): number => 0;

/** A computation of so many steps. */
function* stepsOf<T>(count: number, result: T, taken: () => void = () => undefined): Steps<T> {
  for (let step = 0; step < count; step++) {
    taken();
    yield;
  }
  return result;
}

/** Tells which computations were finished, and in which turn of the event loop, from 0. */
class Turns {
  readonly #queue = new SliceQueue();
  readonly #finished: [turn: number, what: string][] = [];
  #turn = 0;

  constructor() {
    this.#count();
  }

  add(lane: string, what: string, { steps, items = 0 }: { readonly steps: number; readonly items?: number }): void {
    const finished = this.#queue.finish(lane, stepsOf(steps, what), () => items);
    void finished.then(() => this.#finished.push([this.#turn, what]));
  }

  async pass(count: number): Promise<readonly [turn: number, what: string][]> {
    while (this.#turn < count) await nextTurn();
    return this.#finished;
  }

  /** Counts a turn before anything else runs in it. */
  #count(): void {
    setImmediate(() => {
      if (++this.#turn < 50) this.#count();
    });
  }
}

describe("computations of many clients", () => {
  test("share the slices: a turn has 500 steps, whoever's they are", async () => {
    const queue = new SliceQueue();
    let taken = 0;
    const all = ["a", "b", "c", "c"].map((lane) =>
      queue.finish(
        lane,
        stepsOf(1_000, lane, () => taken++),
        none,
      ),
    );
    const perTurn: number[] = [];
    for (let before = 0; taken < 4_000; before = taken) {
      await nextTurn();
      perTurn.push(taken - before);
    }
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "c"]);
    // The first slice is that of the turn in which they were added.
    expect(Math.max(...perTurn.slice(1))).toBe(500);
    expect(perTurn[0]).toBeLessThanOrEqual(1_000);
  });

  test("are finished at once if they are small, many in a turn", async () => {
    const turns = new Turns();
    for (let at = 0; at < 200; at++) turns.add("a", `${at}`, { steps: 1 });
    expect((await turns.pass(1)).map(([turn]) => turn)).toEqual(Array(200).fill(0));
  });

  test("have turns by lane, and order within one", async () => {
    const turns = new Turns();
    for (const what of ["first", "second", "third"]) turns.add("greedy", what, { steps: 1_500 });
    turns.add("modest", "small", { steps: 10 });
    expect(await turns.pass(20)).toEqual([
      [2, "small"],
      [3, "first"],
      [6, "second"],
      [9, "third"],
    ]);
  });

  test("pass their results on at once; the next of the lane waits for what these take", async () => {
    const turns = new Turns();
    turns.add("a", "large", { steps: 1, items: 2_500 });
    turns.add("a", "next", { steps: 1 });
    expect(await turns.pass(20)).toEqual([
      [0, "large"],
      [5, "next"],
    ]);
  });

  test("that fail end neither the others nor the queue", async () => {
    const queue = new SliceQueue();
    const failing = queue.finish("a", failAfter(3), none);
    const other = queue.finish("a", stepsOf(1, "other"), none);
    await expect(failing).rejects.toThrow("broken");
    expect(await other).toBe("other");
    expect(await queue.finish("a", stepsOf(1, "later"), none)).toBe("later");
  });
});

function* failAfter(count: number): Steps<never> {
  for (let step = 0; step < count; step++) yield;
  throw new Error("broken");
}
