import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Intake, SMALL_MESSAGE_BYTES, TAKEN_PER_TURN } from "./intake.ts";

/** Calls that note when they are started. */
class Calls {
  readonly #intake = new Intake();
  readonly #started: string[] = [];

  add(account: string, from: number, to: number): void {
    for (const name of named(account, from, to)) this.#intake.take(account, () => this.#started.push(name));
  }

  /** What was started since the last time. */
  take(): readonly string[] {
    return this.#started.splice(0);
  }
}

function named(account: string, from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, at) => `${account}${from + at}`);
}

test("a few are started at once, and as many in each turn after", async () => {
  const calls = new Calls();
  calls.add("a", 0, 2 * TAKEN_PER_TURN + 5);
  const turns = [calls.take()];
  while (turns.length < 4) {
    await turn();
    turns.push(calls.take());
  }
  expect(turns).toEqual([
    named("a", 0, TAKEN_PER_TURN),
    named("a", TAKEN_PER_TURN, 2 * TAKEN_PER_TURN),
    named("a", 2 * TAKEN_PER_TURN, 2 * TAKEN_PER_TURN + 5),
    [],
  ]);
  calls.add("a", 0, 3);
  expect(calls.take()).toEqual(named("a", 0, 3));
});

test("accounts take turns, however many calls each has", async () => {
  const calls = new Calls();
  calls.add("a", 0, 5 * TAKEN_PER_TURN);
  calls.add("b", 0, 2);
  calls.add("c", 0, 1);
  calls.take();
  await turn();
  const [first, second, ...others] = named("a", TAKEN_PER_TURN, 2 * TAKEN_PER_TURN - 3);
  expect(calls.take()).toEqual([first, "b0", "c0", second, "b1", ...others]);
});

test("large messages wait for a turn as calls do, and small ones never", async () => {
  const intake = new Intake();
  const turnFor = (bytes: number): Promise<void> | undefined => intake.turnFor("a", bytes);
  const atOnce = Array.from({ length: TAKEN_PER_TURN }, () => turnFor(SMALL_MESSAGE_BYTES));
  expect(atOnce).toEqual(Array(TAKEN_PER_TURN).fill(undefined));
  const order: string[] = [];
  intake.take("a", () => order.push("a call"));
  const later = turnFor(SMALL_MESSAGE_BYTES)?.then(() => order.push("a message"));
  expect([turnFor(SMALL_MESSAGE_BYTES - 1), order]).toEqual([undefined, []]);
  await later;
  expect(order).toEqual(["a call", "a message"]);
});

test("it is busy while more waits than a turn takes", async () => {
  const intake = new Intake();
  const isBusy: boolean[] = [];
  for (let at = 0; at <= 2 * TAKEN_PER_TURN; at++) {
    isBusy.push(intake.isBusy);
    intake.take("a", () => {});
  }
  isBusy.push(intake.isBusy);
  await turn();
  isBusy.push(intake.isBusy);
  expect(isBusy).toEqual([...Array(2 * TAKEN_PER_TURN + 1).fill(false), true, false]);
});

test("what is added while others wait does not pass them", async () => {
  const calls = new Calls();
  calls.add("a", 0, 3 * TAKEN_PER_TURN);
  await turn();
  calls.add("a", 3 * TAKEN_PER_TURN, 3 * TAKEN_PER_TURN + 1);
  await turn();
  await turn();
  expect(calls.take()).toEqual(named("a", 0, 3 * TAKEN_PER_TURN + 1));
});
