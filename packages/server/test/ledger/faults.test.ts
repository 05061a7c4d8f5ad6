import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DirectoryLedgerStore, openDirectoryLedger } from "../../src/ledger/directory-store.ts";
import { add, appended, collect, texts } from "./support/describe-ledger-store.ts";
import { MemoryFiles } from "./support/memory-files.ts";

const quiet = { onProblem: () => undefined };

describe("the directory of a ledger", () => {
  let directory: string;
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), "xdskit-ledger-")), "ledger");
  });
  afterEach(() => rmSync(join(directory, ".."), { recursive: true, force: true }));

  test("is made if need be, and nobody else may read it", async () => {
    const store = await openDirectoryLedger({ directory });
    expect([directory, join(directory, "records-0.log")].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o600,
    ]);
    await store.close();
    expect(readdirSync(directory)).toEqual(["records-0.log"]);
  });

  test("is written by one at a time, and read by anybody", async () => {
    const store = await openDirectoryLedger({ directory });
    await add(store, ["a"], ["A"]);
    await expect(openDirectoryLedger({ directory })).rejects.toThrow(
      `${directory} cannot be used: another server of this process uses it`,
    );
    const reader = await openDirectoryLedger({ directory, isReadOnly: true });
    await add(store, ["b"]);
    expect([reader.head.number, await texts(reader), Buffer.from((await reader.body("A")) ?? []).toString()]).toEqual([
      1,
      ["a"],
      "A",
    ]);
    expect(await reader.append(reader.head, appended(["c"]))).toEqual({
      kind: "unavailable",
      reason: "the ledger was opened to read only",
    });
    await reader.close();
    await store.close();
    await (await openDirectoryLedger({ directory })).close();
  });

  test("that is not there is not made to read it", async () => {
    await expect(openDirectoryLedger({ directory, isReadOnly: true })).rejects.toThrow(/cannot be used: ENOENT/);
    expect(existsSync(directory)).toBe(false);
  });

  test("of another version is left as it is", async () => {
    await (await openDirectoryLedger({ directory })).close();
    const path = join(directory, "records-0.log");
    writeFileSync(path, readFileSync(path, "utf8").replace("xdskit ledger 1", "xdskit ledger 2"));
    const before = readFileSync(path, "utf8");
    await expect(openDirectoryLedger({ directory })).rejects.toThrow(
      `${directory} cannot be used: records-0.log is not of this version ("xdskit ledger 1")`,
    );
    expect([readdirSync(directory), readFileSync(path, "utf8")]).toEqual([["records-0.log"], before]);
  });

  test("restored from an old backup has the epoch, and a head that is no ancestor of the other", async () => {
    const backup = join(directory, "..", "backup");
    const store = await openDirectoryLedger({ directory });
    const common = await add(store, ["a"]);
    await store.close();
    cpSync(directory, backup, { recursive: true });
    const lost = await openDirectoryLedger({ directory });
    const head = await add(lost, ["b"]);
    const restored = await openDirectoryLedger({ directory: backup });
    await add(restored, ["c"]);
    const [first, second] = await collect(restored);
    expect([restored.epoch, restored.head.number]).toEqual([lost.epoch, head.number]);
    expect(first?.id).toBe(common.id);
    expect(second?.id).not.toBe(head.id);
    await restored.close();
    await lost.close();
  });

  test("that another process writes to in spite of the lock is not damaged", async () => {
    const first = await openDirectoryLedger({ directory });
    await add(first, ["a"]);
    // With the lock goes the socket beside it, which tells that its holder lives.
    for (const file of readdirSync(directory)) if (file.startsWith("lock")) rmSync(join(directory, file));
    const second = await openDirectoryLedger({ directory });
    await add(second, ["b"]);
    const refused = { kind: "unavailable", reason: "another process writes to records-0.log" };
    expect(await first.append(first.head, appended(["c"]))).toEqual(refused);
    await expect(
      first.compact({ head: first.head, text: "" }, { completeAfter: 0, records: new Set(), bodies: new Set() }),
    ).rejects.toThrow(refused.reason);
    await add(second, ["d"]);
    await first.close();
    await second.close();
    const last = await openDirectoryLedger({ directory });
    expect(await texts(last)).toEqual(["a", "b", "d"]);
    await last.close();
  });
});

describe("a disk that takes nothing", () => {
  const readOnly = (): never => {
    throw new Error("EROFS: read-only file system");
  };

  test("is an error where a ledger is to begin", async () => {
    const files = new MemoryFiles();
    files.before = readOnly;
    await expect(DirectoryLedgerStore.open(files, quiet)).rejects.toThrow("EROFS: read-only file system");
    expect(await files.list()).toEqual([]);
  });

  test("is the reason why a ledger that can be read takes no record", async () => {
    const files = new MemoryFiles();
    await add(await DirectoryLedgerStore.open(files, quiet), ["a"], ["A"]);
    const before = files.text("records-0.log");
    const store = await DirectoryLedgerStore.open(files, quiet);
    files.before = (operation) => {
      // The part of a failed append that stays could not be cut off either.
      if (operation.kind === "append") operation.bytes.fill(0);
      throw new Error("EROFS: read-only file system");
    };
    const refused = { kind: "unavailable", reason: "EROFS: read-only file system" };
    expect([await store.append(store.head, appended(["b"])), await store.append(store.head, appended(["b"]))]).toEqual([
      refused,
      refused,
    ]);
    expect([await texts(store), store.head.number]).toEqual([["a"], 1]);
    files.before = () => undefined;
    expect((await store.append(store.head, appended(["b"]))).kind).toBe("appended");
    expect(files.text("records-0.log").slice(0, before.length)).toBe(before);
    expect(await texts(await DirectoryLedgerStore.open(files, quiet))).toEqual(["a", "b"]);
  });
});

describe("two processes at the same moment", () => {
  test("never both get a number, and one that was answered stays", async () => {
    const files = new MemoryFiles();
    const [a, b] = [await DirectoryLedgerStore.open(files, quiet), await DirectoryLedgerStore.open(files, quiet)];
    const results = await Promise.all([a.append(a.head, appended(["a"])), b.append(b.head, appended(["b"]))]);
    const won = results.flatMap((result, i) => (result.kind === "appended" ? [i === 0 ? "a" : "b"] : []));
    expect(won.length).toBeLessThanOrEqual(1);
    const last = await DirectoryLedgerStore.open(files, quiet);
    expect((await texts(last)).slice(0, won.length)).toEqual(won);
  });

  test("never both go on after one began a new segment", async () => {
    const files = new MemoryFiles();
    const options = { ...quiet, segmentBytes: 10 };
    const a = await DirectoryLedgerStore.open(files, options);
    await add(a, ["1"]);
    const b = await DirectoryLedgerStore.open(files, options);
    await add(b, ["2"]);
    expect((await a.append(a.head, appended(["other"]))).kind).toBe("unavailable");
    await b.close();
    expect(await texts(await DirectoryLedgerStore.open(files, options))).toEqual(["1", "2"]);
  });
});

describe("a damaged ledger", () => {
  async function ledgerOf(appends: number): Promise<MemoryFiles> {
    const files = new MemoryFiles();
    const store = await DirectoryLedgerStore.open(files, quiet);
    for (let i = 1; i <= appends; i++) await add(store, [`record ${i}`]);
    await store.close();
    return files;
  }

  test("is refused with the place, and nothing is cut off, if records were answered behind it", async () => {
    const files = await ledgerOf(4);
    const text = files.text("records-0.log").replace("record 2", "record 9");
    files.write("records-0.log", text);
    await expect(DirectoryLedgerStore.open(files, quiet)).rejects.toThrow(
      "records-0.log:6 is damaged, and there are records behind it",
    );
    expect(files.text("records-0.log")).toBe(text);
  });

  test("is refused if a record is left out, though every line is right", async () => {
    const files = await ledgerOf(5);
    const lines = files.text("records-0.log").split("\n");
    files.write("records-0.log", lines.filter((line) => !line.endsWith("record 2")).join("\n"));
    await expect(DirectoryLedgerStore.open(files, quiet)).rejects.toThrow(/records-0.log:7 is damaged/);
  });

  test("is refused if a segment or a part of a snapshot is missing", async () => {
    const files = new MemoryFiles();
    const store = await DirectoryLedgerStore.open(files, { ...quiet, segmentBytes: 10 });
    for (const text of ["1", "2", "3"]) await add(store, [text]);
    const lost = files.copy();
    lost.contents.delete("records-1.log");
    await expect(DirectoryLedgerStore.open(lost, quiet)).rejects.toThrow(
      "records-2.log does not continue records-0.log",
    );
    await store.compact({ head: store.head, text: "123" }, { completeAfter: 0, records: new Set(), bodies: new Set() });
    await store.close();
    const cut = files.copy();
    cut.write("snapshot-1.log", `${cut.text("snapshot-1.log").split("\n").slice(0, -2).join("\n")}\n`);
    await expect(DirectoryLedgerStore.open(cut, quiet)).rejects.toThrow(
      "snapshot-1.log is damaged: its end is missing",
    );
    files.contents.delete("records-3.log");
    await expect(DirectoryLedgerStore.open(files, quiet)).rejects.toThrow("the records after number 3 are missing");
  });
});
