import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { BYTES_PER_TURN, READERS_PER_TURN, ReadPacer, SMALL_READ_BYTES, SMALL_READS } from "./read-pacer.ts";

const CHUNK = 65_536;

/** Connections that always have more to read, in pieces of 64 KiB. */
class Herd {
  readonly #pacer = new ReadPacer(() => this.isBusy);
  readonly #paused = new Set<number>();
  readonly #readers: { pauseReading(): void; resumeReading(): void }[] = [];
  isBusy = false;

  constructor(size: number) {
    for (let i = 0; i < size; i++) this.join();
  }

  /** One connection more; its number. */
  join(): number {
    const index = this.#readers.length;
    const reader = {
      pauseReading: () => void this.#paused.add(index),
      resumeReading: () => void this.#paused.delete(index),
    };
    this.#readers.push(reader);
    this.#pacer.join(reader);
    return index;
  }

  /**
   * Reads from each of the first so many connections that is not paused by then, as a turn of the event loop does; returns
   * which those were.
   */
  read(count = this.#readers.length): readonly number[] {
    const read: number[] = [];
    for (let index = 0; index < count; index++) {
      if (this.#paused.has(index)) continue;
      this.readOf(index, CHUNK);
      read.push(index);
    }
    return read;
  }

  readOf(index: number, byteLength: number): void {
    const reader = this.#readers[index];
    if (reader !== undefined) this.#pacer.onRead(reader, byteLength);
  }

  forget(index: number): void {
    const reader = this.#readers[index];
    if (reader !== undefined) this.#pacer.forget(reader);
  }

  isPaused(index: number): boolean {
    return this.#paused.has(index);
  }
}

function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** What turns of the event loop read. */
async function turnsOf(herd: Herd, count: number): Promise<readonly (readonly number[])[]> {
  const turns: (readonly number[])[] = [];
  while (turns.length < count) {
    turns.push(herd.read());
    await turn();
  }
  return turns;
}

test.each([5, 10])(
  "a turn reads a megabyte, and one piece more, of any number of connections, which take turns",
  async (times) => {
    const herd = new Herd(times * READERS_PER_TURN);
    const turns = await turnsOf(herd, 2 * times);
    expect(turns.filter((read) => read.length * CHUNK > BYTES_PER_TURN + CHUNK)).toEqual([]);
    expect(new Set(turns.flat())).toEqual(new Set(numbers(0, times * READERS_PER_TURN)));
  },
);

test("connections that bring little do not wait, once they are known", async () => {
  const quiet = 3 * READERS_PER_TURN;
  const herd = new Herd(quiet + 1);
  for (let read = 0; read < SMALL_READS; read++) herd.readOf(quiet, 100);
  for (let i = 0; i < 10; i++) {
    herd.read(quiet);
    expect(herd.isPaused(quiet)).toBe(false);
    await turn();
  }
  herd.readOf(quiet, SMALL_READ_BYTES);
  herd.read(quiet);
  expect(herd.isPaused(quiet)).toBe(true);
});

test("connections that are new wait for a few of those that bring much, not for all of them", async () => {
  const herd = new Herd(100 * READERS_PER_TURN);
  await turnsOf(herd, 300);
  const late = herd.join();
  const turns = await turnsOf(herd, 3);
  expect(turns.flat()).toContain(late);
});

test("while what was read is not processed, connections that bring much wait", async () => {
  const herd = new Herd(2);
  herd.isBusy = true;
  herd.readOf(0, CHUNK);
  herd.readOf(1, SMALL_READ_BYTES - 1);
  await turn();
  await turn();
  expect([herd.isPaused(0), herd.isPaused(1)]).toEqual([true, false]);
  herd.isBusy = false;
  await turn();
  expect(herd.isPaused(0)).toBe(false);
});

test("a connection that closed takes nobody's turn", async () => {
  const herd = new Herd(1);
  herd.isBusy = true;
  herd.readOf(0, CHUNK);
  herd.forget(0);
  herd.isBusy = false;
  await turn();
  expect(herd.isPaused(0)).toBe(true);
});
