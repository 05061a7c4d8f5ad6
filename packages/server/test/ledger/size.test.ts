import { expect, test } from "vitest";
import { DirectoryLedgerStore } from "../../src/ledger/directory-store.ts";
import { add, collect } from "./support/describe-ledger-store.ts";
import { MemoryFiles } from "./support/memory-files.ts";

const open = (files: MemoryFiles) =>
  DirectoryLedgerStore.open(files, { onProblem: () => undefined, segmentBytes: 20_000 });
const numbersTo = (last: number): readonly number[] => Array.from({ length: last }, (_, i) => i + 1);

test("a ledger that is opened reads its snapshot and what came after it, and nothing else", async () => {
  const files = new MemoryFiles();
  const store = await open(files);
  for (let i = 0; i < 50; i++)
    await add(
      store,
      numbersTo(100).map((n) => `record ${i}.${n}`),
      [`body-${i}`],
    );
  const keep = {
    completeAfter: 0,
    records: new Set(numbersTo(5_000)),
    bodies: new Set(numbersTo(50).map((i) => `body-${i - 1}`)),
  };
  await store.compact({ head: store.head, text: "the state" }, keep);
  await add(store, ["after"], ["body-after"]);
  await store.close();
  files.bytesRead.clear();
  const again = await open(files);
  expect([...files.bytesRead.keys()].sort()).toEqual(["records-5000.log", "snapshot-1.log"]);
  const sizes = files.text("records-5000.log").length + files.text("snapshot-1.log").length;
  const headers = 2 * "xdskit ledger 1\n".length;
  expect([...files.bytesRead.values()].reduce((sum, bytes) => sum + bytes)).toBeLessThanOrEqual(sizes + headers);
  expect([(await collect(again)).length, (await again.body("body-3"))?.length]).toEqual([5_001, 6]);
});

test("live changes without end leave as much on disk and in the index as the newest of them need", async () => {
  const files = new MemoryFiles();
  const store = await open(files);
  const sizes: number[] = [];
  for (let round = 0; round < 30; round++) {
    for (let i = 0; i < 100; i++) await add(store, [`live ${round}.${i}`], [`endpoints-${i % 10}-${round}-${i}`]);
    const newest = numbersTo(10).map((i) => `endpoints-${i - 1}-${round}-${89 + i}`);
    await store.compact(
      { head: store.head, text: "x".repeat(100) },
      { completeAfter: 0, records: new Set(), bodies: new Set(newest) },
    );
    sizes.push(files.size);
  }
  expect((await files.list()).toSorted()).toEqual([
    "bodies-30.log",
    "history-30.log",
    "records-3000.log",
    "snapshot-30.log",
  ]);
  expect(files.text("snapshot-30.log").match(/ kept /g)?.length).toBe(10);
  // The digits of the round and of the number.
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(200);
  expect([await store.body("endpoints-0-29-0"), (await store.body("endpoints-9-29-99"))?.length]).toEqual([
    undefined,
    "endpoints-9-29-99".length,
  ]);
});
