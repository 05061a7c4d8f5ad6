import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { DirectoryLedgerStore } from "../../src/ledger/directory-store.ts";
import type { WholeLedger } from "../../src/ledger/store.ts";
import { add, appended, texts } from "./support/describe-ledger-store.ts";
import { MemoryFiles, type Operation } from "./support/memory-files.ts";

/** What was answered when so many operations had been done. */
interface Answer {
  readonly operations: number;
  readonly head: number;
  /** Undefined: there was no compaction. */
  readonly snapshot: number | undefined;
}

const bodyOf = (number: number): string => `body-${number}`;
const open = (files: MemoryFiles, onProblem: (message: string) => void = () => undefined) =>
  DirectoryLedgerStore.open(files, { onProblem, segmentBytes: 400 });

/** A ledger's life: appends of one record and of more, new segments, compactions with appends meanwhile. */
async function live(files: MemoryFiles): Promise<readonly Answer[]> {
  const answers: Answer[] = [{ operations: 0, head: 0, snapshot: undefined }];
  const store = await open(files);
  let snapshot: number | undefined;
  const answered = (): void => {
    answers.push({ operations: files.operations.length, head: store.head.number, snapshot });
  };
  const append = async (count: number): Promise<void> => {
    const numbers = Array.from({ length: count }, (_, i) => store.head.number + 1 + i);
    const records = numbers.map((number) => `record ${number}`);
    // The one before is brought again.
    await add(store, records, [...numbers, store.head.number].filter((number) => number > 0).map(bodyOf));
    answered();
  };
  const compact = async (): Promise<void> => {
    const { head } = store;
    const numbers = Array.from({ length: head.number }, (_, i) => i + 1);
    const keep = { completeAfter: 0, records: new Set([1]), bodies: new Set(numbers.map(bodyOf)) };
    const done = store.compact({ head, text: `up to ${head.number}` }, keep);
    await append(1);
    await done;
    snapshot = head.number;
    answered();
  };
  await append(1);
  await append(3);
  await compact();
  await append(2);
  await compact();
  await append(1);
  await store.close();
  return answers;
}

/** Opens what a crash left and holds it against what had been answered. */
async function expectAnswered(files: MemoryFiles, { head, snapshot }: Answer): Promise<void> {
  const store = await open(files);
  expect(store.head.number).toBeGreaterThanOrEqual(head);
  const kept = await store.snapshot();
  expect(kept?.head.number ?? 0).toBeGreaterThanOrEqual(snapshot ?? 0);
  const from = kept?.head.number ?? 0;
  if (kept !== undefined) expect(kept.text).toBe(`up to ${from}`);
  const numbers = Array.from({ length: store.head.number }, (_, i) => i + 1);
  const tail = numbers.filter((number) => number > from || number === 1);
  expect(await texts(store)).toEqual(tail.map((number) => `record ${number}`));
  for (const number of numbers)
    expect(Buffer.from((await store.body(bodyOf(number))) ?? []).toString()).toBe(bodyOf(number));
  // And it goes on.
  await add(store, [`record ${store.head.number + 1}`]);
  await store.close();
  const last = await open(files);
  expect(last.head.number).toBe(store.head.number);
  await last.close();
}

const answeredBefore = (answers: readonly Answer[], operations: number): Answer =>
  answers.findLast((one) => one.operations <= operations) ?? { operations: 0, head: 0, snapshot: undefined };

test("a process that ends at any byte of what it writes leaves everything that it answered", async () => {
  const files = new MemoryFiles();
  const answers = await live(files);
  const done = new MemoryFiles();
  for (const [i, operation] of files.operations.entries()) {
    if (operation.kind === "append") {
      for (let length = 0; length < operation.bytes.length; length++) {
        const left = done.copy();
        await left.do({ ...operation, bytes: operation.bytes.subarray(0, length) });
        await expectAnswered(left, answeredBefore(answers, i));
      }
    }
    await done.do(operation);
    await expectAnswered(done.copy(), answeredBefore(answers, i + 1));
  }
  expect(answers.at(-1)).toEqual({ operations: files.operations.length, head: 9, snapshot: 7 });
}, 120_000);

test("a machine that loses all that was not synced leaves everything that was answered", async () => {
  const files = new MemoryFiles();
  const answers = await live(files);
  for (let i = 0; i <= files.operations.length; i++) {
    const left = new MemoryFiles();
    for (const operation of onlySynced(files.operations.slice(0, i))) await left.do(operation);
    await expectAnswered(left, answeredBefore(answers, i));
  }
});

test("a process that ends while it puts another ledger in place of one leaves the old one, none, or the new one", async () => {
  const other = await open(new MemoryFiles());
  await add(other, ["new 1"], ["N1"]);
  const head = await add(other, ["new 2"], ["N2"]);
  await other.compact(
    { head, text: "new" },
    { completeAfter: 0, records: new Set([1]), bodies: new Set(["N1", "N2"]) },
  );
  await add(other, ["new 3"]);
  const [snapshot, brought] = [await other.snapshot(), [["N1", new Uint8Array([1])] as const]];
  const whole: WholeLedger = {
    ...{ head: other.head, snapshot, completeAfter: 0 },
    ...{ records: () => other.read(0), bodies: () => Readable.from(brought) },
  };
  const files = new MemoryFiles();
  const store = await open(files);
  const old = await add(store, ["old 1", "old 2"], ["O"]);
  const begunAt = files.operations.length;
  await store.clear(old);
  const clearedAt = files.operations.length;
  expect(await store.begin(whole)).toEqual({ kind: "appended", head: other.head });
  await store.close();
  const outcomes: string[] = [];
  for (let i = begunAt; i <= files.operations.length; i++) {
    for (const operations of [files.operations.slice(0, i), onlySynced(files.operations.slice(0, i))]) {
      const left = new MemoryFiles();
      for (const operation of operations) await left.do(operation);
      const opened = await open(left);
      const found = `${await texts(opened)} ${(await opened.snapshot())?.text ?? "-"}`;
      outcomes.push(`${i <= clearedAt ? "clearing" : "beginning"}: ${found}`);
      await add(opened, ["next"]);
      await opened.close();
    }
  }
  expect([...new Set(outcomes)]).toEqual([
    "clearing: old 1,old 2 -",
    "clearing:  -",
    "beginning:  -",
    "beginning: new 1,new 3 new",
  ]);
});

/** Without appends that no `sync` of their file follows; file names are durable at once. */
function onlySynced(operations: readonly Operation[]): readonly Operation[] {
  const isLost = (operation: Operation, i: number): boolean =>
    operation.kind === "append" &&
    !operations.slice(i).some((later) => later.kind === "sync" && later.name === operation.name);
  return operations.filter((operation, i) => !isLost(operation, i));
}

test("an append of which a machine kept only the end is cut off", async () => {
  const files = new MemoryFiles();
  const store = await open(files);
  await add(store, ["a"]);
  const before = files.text("records-0.log");
  await add(store, ["b", "c"], ["B"]);
  const text = files.text("records-0.log");
  const hole = "\0".repeat(40);
  files.write("records-0.log", before + hole + text.slice(before.length + hole.length));
  const problems: string[] = [];
  const again = await open(files, (message) => problems.push(message));
  expect([await texts(again), files.text("records-0.log")]).toEqual([["a"], before]);
  expect(problems).toEqual(["records-0.log:6: an append that was not finished was cut off"]);
});

describe("every operation that fails", () => {
  test("is answered with its reason, changes nothing, and the next append works", async () => {
    const all = new MemoryFiles();
    const counted = await live(all).then(() => all.operations.length);
    for (let failing = 0; failing < counted; failing++) await liveWithFailureAt(failing);
  });

  async function liveWithFailureAt(failing: number): Promise<void> {
    const files = new MemoryFiles();
    let done = 0;
    files.before = () => {
      if (done++ === failing) throw new Error("ENOSPC: no space left on device");
    };
    const store = await open(files).catch(async () => await open(files));
    for (let i = 0; i < 8; i++) {
      const { head } = store;
      const append = appended([`record ${head.number + 1}`], [bodyOf(head.number + 1)]);
      const result = await store.append(head, append);
      if (result.kind !== "appended") {
        expect(result).toEqual({ kind: "unavailable", reason: "ENOSPC: no space left on device" });
        expect(store.head).toEqual(head);
        expect((await store.append(head, append)).kind).toBe("appended");
      }
      if (i === 4) await compactOrFail(store);
    }
    expect(store.head.number).toBe(8);
    files.before = () => undefined;
    await store.close();
    await expectAnswered(files, { operations: 0, head: 8, snapshot: undefined });
  }

  async function compactOrFail(store: DirectoryLedgerStore): Promise<void> {
    const { head } = store;
    const numbers = Array.from({ length: head.number }, (_, i) => i + 1);
    const keep = { completeAfter: 0, records: new Set([1]), bodies: new Set(numbers.map(bodyOf)) };
    const snapshot = { head, text: `up to ${head.number}` };
    await store.compact(snapshot, keep).catch(() => store.compact(snapshot, keep));
  }
});
