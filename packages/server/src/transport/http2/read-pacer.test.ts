import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  BYTES_BESIDE_CHANGES,
  BYTES_IN_A_ROW,
  BYTES_PER_TURN,
  READ_BYTES,
  ReadPacer,
  SMALL_READ_BYTES,
} from "./read-pacer.ts";

const READERS_PER_TURN = BYTES_PER_TURN / READ_BYTES;
const READS_IN_A_ROW = BYTES_IN_A_ROW / READ_BYTES;

/** Connections that always have more to read, in pieces of 64 KiB. */
class Herd {
  readonly #pacer = new ReadPacer({ isBusy: () => this.isBusy, isChangeDue: () => this.isChangeDue });
  readonly #paused = new Set<number>();
  readonly #readers: readonly { pauseReading(): void; resumeReading(): void }[];
  isBusy = false;
  isChangeDue = false;

  constructor(size: number) {
    this.#readers = Array.from({ length: size }, (_, index) => ({
      pauseReading: () => void this.#paused.add(index),
      resumeReading: () => void this.#paused.delete(index),
    }));
  }

  /** Reads from each connection that is not paused, as a turn of the event loop does; returns which those were. */
  read(byteLength = READ_BYTES): readonly number[] {
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

/** What is read in so many turns of the event loop. */
async function turnsOf(herd: Herd, count: number): Promise<readonly (readonly number[])[]> {
  const turns: (readonly number[])[] = [];
  while (turns.length < count) {
    await turn();
    turns.push(herd.read());
  }
  return turns;
}

test("after so many bytes in a turn connections that bring much wait", async () => {
  const herd = new Herd(5 * READERS_PER_TURN);
  expect(herd.read()).toEqual(numbers(0, 5 * READERS_PER_TURN));
  const turns = await turnsOf(herd, 5);
  // What may be read in a turn pauses nobody; the connections that waited bring as much again.
  expect(turns.map((read) => read.length * READ_BYTES)).toEqual(Array(5).fill(2 * BYTES_PER_TURN));
});

test("a turn is shorter while a change waits to be sent", async () => {
  const herd = new Herd(5 * READERS_PER_TURN);
  herd.read();
  herd.isChangeDue = true;
  const [, ...beside] = await turnsOf(herd, 4);
  herd.isChangeDue = false;
  const [after] = await turnsOf(herd, 1);
  expect(beside.map((read) => read.length * READ_BYTES)).toEqual(Array(3).fill(2 * BYTES_BESIDE_CHANGES));
  expect(after).toHaveLength((BYTES_PER_TURN + BYTES_BESIDE_CHANGES) / READ_BYTES);
});

test("a connection that goes on is read for a while before the next one, and all have their turn", async () => {
  const waiting = 4 * READERS_PER_TURN;
  const herd = new Herd(READERS_PER_TURN + waiting);
  herd.read();
  const counts = Array<number>(READERS_PER_TURN + waiting).fill(0);
  const seen: number[] = [];
  for (const read of await turnsOf(herd, 4 * READS_IN_A_ROW)) {
    for (const index of read) counts[index] = (counts[index] ?? 0) + 1;
    seen.push(counts.slice(READERS_PER_TURN).filter((count) => count > 0).length);
  }
  const groups = [1, 2, 3, 4].flatMap((group) => Array<number>(READS_IN_A_ROW).fill(group * READERS_PER_TURN));
  expect(seen).toEqual(groups);
  expect(counts.slice(READERS_PER_TURN)).toEqual(Array<number>(waiting).fill(READS_IN_A_ROW));
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
  herd.readOf(0, READ_BYTES);
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
  herd.readOf(0, READ_BYTES);
  herd.forget(0);
  herd.isBusy = false;
  await turn();
  expect(herd.isPaused(0)).toBe(true);
});

test("a connection that closes in its turn does not go on", async () => {
  const herd = new Herd(2);
  herd.isBusy = true;
  herd.readOf(0, READ_BYTES);
  herd.isBusy = false;
  await turn();
  herd.isBusy = true;
  herd.readOf(0, READ_BYTES);
  herd.forget(0);
  herd.isBusy = false;
  await turn();
  expect(herd.isPaused(0)).toBe(true);
});
