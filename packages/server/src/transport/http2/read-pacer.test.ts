import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { BYTES_PER_TURN, READERS_PER_TURN, ReadPacer, SMALL_READ_BYTES } from "./read-pacer.ts";

const CHUNK = 65_536;

/** Connections that always have more to read, in pieces of 64 KiB. */
class Herd {
  readonly #pacer = new ReadPacer(() => this.isBusy);
  readonly #paused = new Set<number>();
  readonly #readers: readonly { pauseReading(): void; resumeReading(): void }[];
  isBusy = false;

  constructor(size: number) {
    this.#readers = Array.from({ length: size }, (_, index) => ({
      pauseReading: () => void this.#paused.add(index),
      resumeReading: () => void this.#paused.delete(index),
    }));
  }

  /** Reads from each connection that is not paused, as a turn of the event loop does; returns which those were. */
  read(byteLength = CHUNK): readonly number[] {
    const reading = this.#readers.map((_, index) => index).filter((index) => !this.#paused.has(index));
    for (const index of reading) this.readOf(index, byteLength);
    return reading;
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

test("after so many bytes in a turn connections that bring much wait, and take turns", async () => {
  const herd = new Herd(5 * READERS_PER_TURN);
  const all = numbers(0, 5 * READERS_PER_TURN);
  expect(herd.read()).toEqual(all);
  const turns: (readonly number[])[] = [];
  while (turns.length < 5) {
    await turn();
    turns.push(herd.read());
  }
  // What may be read in a turn pauses nobody; the connections that waited bring as much again.
  expect(turns.map((read) => read.reduce((bytes) => bytes + CHUNK, 0))).toEqual(Array(5).fill(2 * BYTES_PER_TURN));
  expect(new Set(turns.flat())).toEqual(new Set(all));
});

test("small reads never wait", () => {
  const herd = new Herd(2 * READERS_PER_TURN);
  herd.read();
  const quiet = 0;
  herd.readOf(quiet, SMALL_READ_BYTES - 1);
  expect(herd.isPaused(quiet)).toBe(false);
  herd.readOf(quiet, SMALL_READ_BYTES);
  expect(herd.isPaused(quiet)).toBe(true);
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
