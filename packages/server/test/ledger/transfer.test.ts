import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDirectoryLedger } from "../../src/ledger/directory-store.ts";
import { MemoryLedgerStore } from "../../src/ledger/memory-store.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { exportLedger, importLedger } from "../../src/ledger/transfer.ts";
import { collect } from "./support/describe-ledger-store.ts";
import { fill } from "./support/filled-ledger.ts";

let directory: string;
let store: LedgerStore;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "xdskit-transfer-"));
  path = join(directory, "export");
  store = new MemoryLedgerStore();
  await fill(store);
});
afterEach(() => rm(directory, { recursive: true }));

async function exported(from: LedgerStore): Promise<string> {
  const parts: Uint8Array[] = [];
  await exportLedger(from, (bytes) => {
    parts.push(bytes);
    return Promise.resolve();
  });
  return Buffer.concat(parts).toString("utf8");
}

/** Imports a text into an empty store, and says what came of it. */
async function imported(text: string): Promise<string> {
  await writeFile(path, text);
  const empty = new MemoryLedgerStore();
  const result = await importLedger(empty, path).catch((cause: unknown) => cause);
  const { number } = empty.head;
  if (number === 0) return result instanceof Error ? result.message : JSON.stringify(result);
  return `imported up to ${number}`;
}

test("an exported ledger is the same in another store, and is exported from there as the same file", async () => {
  const text = await exported(store);
  const counts: unknown[] = [];
  await writeFile(path, text);
  const ledger = await openDirectoryLedger({ directory: join(directory, "ledger") });
  counts.push(await importLedger(ledger, path));
  const { head } = store;
  expect(counts).toEqual([{ kind: "imported", head, records: 6, bodies: 6, bytes: Buffer.byteLength(text) }]);
  expect([ledger.head, await ledger.snapshot(), ledger.completeAfter]).toEqual([
    ...[head, await store.snapshot(), store.completeAfter],
  ]);
  expect(await collect(ledger)).toEqual(await collect(store));
  await ledger.close();
  const again = await openDirectoryLedger({ directory: join(directory, "ledger"), isReadOnly: true });
  expect(await exported(again)).toBe(text);
  await again.close();
});

test("a store with records is left as it is, unless it is to be replaced", async () => {
  await writeFile(path, await exported(store));
  const other = new MemoryLedgerStore();
  await other.append(other.head, { records: ["{}"], bodies: new Map() });
  expect(await importLedger(other, path)).toEqual({ kind: "not-empty", head: other.head });
  expect(other.head.number).toBe(1);
  expect(await importLedger(other, path, { isReplacing: true })).toMatchObject({ kind: "imported", head: store.head });
  expect(await collect(other)).toEqual(await collect(store));
});

test("a file that is torn at any line, or amidst one, is refused, and nothing is written", async () => {
  const lines = (await exported(store)).split("\n");
  const answers = new Set<string>();
  for (let count = 0; count < lines.length - 1; count++) {
    const whole = lines.slice(0, count).join("\n");
    const line = lines[count] ?? "";
    for (const text of [`${whole}\n`, `${whole}\n${line.slice(0, line.length / 2)}`])
      answers.add((await imported(text.trimStart())).replace(/\d+/, "N"));
  }
  expect([...answers].toSorted()).toEqual([
    "it ends amidst line N",
    "it is empty",
    "it is no export of a ledger",
    "its end is missing",
  ]);
});

test("a file of something else, of another version, or that was changed is refused with the reason", async () => {
  const text = await exported(store);
  const lines = text.split("\n");
  const swapped = [...lines];
  [swapped[3], swapped[4]] = [lines[4] ?? "", lines[3] ?? ""];
  const last = await readFile(new URL(import.meta.url), "utf8");
  const answers = [
    await imported(last),
    await imported(text.replace("ledger 1", "ledger 2")),
    await imported(text.replace('"writer":"directory"', '"writer":"nobody"')),
    await imported(swapped.join("\n")),
    await imported(lines.filter((line) => !line.includes(" body ")).join("\n")),
    await imported(`${text}${lines[1]}\n`),
    await imported(text),
  ];
  expect(answers).toEqual([
    "it is no export of a ledger",
    'it is of version 2, and this program reads "xdskit ledger 1"',
    expect.stringMatching(/^line \d+ is damaged$/),
    expect.stringMatching(/^record \d+ does not follow \d+$/),
    "lines of it are missing, or were changed",
    expect.stringMatching(/^line \d+ stands behind its end$/),
    "imported up to 7",
  ]);
});

test("a ledger that is compacted while it is exported is no export", async () => {
  const { head } = store;
  const kept = { completeAfter: head.number, records: new Set<number>(), bodies: new Set<string>() };
  const { text = "" } = (await store.snapshot()) ?? {};
  let hasCompacted = false;
  const exporting = exportLedger(
    store,
    () => Promise.resolve(),
    () => {
      if (!hasCompacted) void store.compact({ head, text }, kept);
      hasCompacted = true;
    },
  );
  await expect(exporting).rejects.toThrow("the ledger was compacted while it was read: repeat it");
});
