import { describe, expect, test } from "vitest";
import { unchanged } from "./operation-plan.ts";
import { OperationQueue } from "./operation-queue.ts";

/** A queue on a virtual clock, whose groups take as long as they are told to, and what it does. */
class World {
  readonly log: string[] = [];
  readonly queue: OperationQueue;
  /** Called in the middle of each group, and of each pause. */
  during: (what: string) => void = () => undefined;
  #now = 0;
  readonly #names: string[] = [];

  constructor(costMs: number) {
    const clock = {
      now: () => this.#now,
      pause: (ms: number) => this.#spend(`pause ${ms}`, ms),
    };
    this.queue = new OperationQueue(async (operations) => {
      await this.#spend(`take ${this.#names.splice(0, operations.length).join("")}`, costMs);
      for (const { settle } of operations) settle({ kind: "unchanged", number: 0, revision: 0 });
    }, clock);
  }

  async add(name: string): Promise<void> {
    this.#names.push(name);
    await this.queue.add(() => unchanged);
  }

  /** Adds operations as soon as something happens. */
  addDuring(added: Readonly<Record<string, string>>): void {
    this.during = (what) => {
      for (const name of added[what] ?? "") void this.add(name);
    };
  }

  async #spend(what: string, ms: number): Promise<void> {
    this.log.push(what);
    await Promise.resolve();
    this.during(what);
    this.#now += ms;
  }
}

describe("operations that come while a group is taken", () => {
  test("are the next one, after a pause of four times what it took, with those that come in it", async () => {
    const world = new World(2);
    world.addDuring({ "take a": "bc", "pause 8": "d" });
    await world.add("a");
    await world.queue.settled();
    expect(world.log).toEqual(["take a", "pause 8", "take bcd"]);
  });

  test.each([
    ["long, the pause is no longer than 10 ms", 500, ["take a", "pause 10", "take b"]],
    ["short, there is no pause", 0.2, ["take a", "take b"]],
  ])("wait no longer than is worth it: if it was %s", async (_, costMs, log) => {
    const world = new World(costMs);
    world.addDuring({ "take a": "b" });
    await world.add("a");
    await world.queue.settled();
    expect(world.log).toEqual(log);
  });

  test("do not wait for more if they are as many as are taken at a time", async () => {
    const world = new World(2);
    world.addDuring({ "take a": "b".repeat(300) });
    await world.add("a");
    await world.queue.settled();
    expect(world.log).toEqual(["take a", `take ${"b".repeat(256)}`, "pause 8", `take ${"b".repeat(44)}`]);
  });
});

test("a program that awaits each operation never waits for a pause", async () => {
  const world = new World(2);
  for (const name of "abc") await world.add(name);
  await Promise.all([..."defg"].map((name) => world.add(name)));
  const loop = async (names: string): Promise<void> => {
    for (const name of names) await world.add(name);
  };
  await Promise.all([loop("hj"), loop("ik")]);
  expect(world.log).toEqual(["take a", "take b", "take c", "take defg", "take hi", "take jk"]);
});

test("a look does not wait for a pause", async () => {
  const world = new World(2);
  world.during = (what) => {
    if (what !== "take a") return;
    void world.add("b");
    void world.queue.look(async () => {
      world.log.push("look");
      await Promise.resolve();
    });
  };
  await world.add("a");
  await world.queue.settled();
  expect(world.log).toEqual(["take a", "look", "pause 8", "take b"]);
});

test("a group that cannot be taken fails, and the next one is taken", async () => {
  const faults = [new Error("disk on fire")];
  const queue = new OperationQueue((operations) => {
    const fault = faults.pop();
    if (fault !== undefined) return Promise.reject(fault);
    for (const { settle } of operations) settle({ kind: "unchanged", number: 0, revision: 0 });
    return Promise.resolve();
  });
  const both = [queue.add(() => unchanged), queue.add(() => unchanged)];
  expect((await Promise.allSettled(both)).map((one) => one.status === "rejected" && String(one.reason))).toEqual([
    ...["Error: disk on fire", "Error: disk on fire"],
  ]);
  expect(await queue.add(() => unchanged)).toEqual({ kind: "unchanged", number: 0, revision: 0 });
});
