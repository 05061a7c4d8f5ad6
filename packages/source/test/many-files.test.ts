import { rmSync } from "node:fs";
import { join } from "node:path";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { expect, test, vi } from "vitest";
import { DirectoryReading } from "../src/directory/directory-reading.ts";
import { syncFileSystem } from "../src/directory/file-system.ts";
import { SourceText } from "../src/document/source-text.ts";
import type { Problem } from "../src/problem.ts";
import { problemCounts } from "../src/problem-bound.ts";
import { cluster, temporaryDirectory, write } from "./support/temporary-directory.ts";

const options = {
  api: createEnvoyApi(),
  validation: undefined,
  maxFileBytes: undefined,
  allowEmpty: undefined,
  findsVersionLoss: false,
  secretFiles: undefined,
};

/** Counts what a look at these paths asks of the files that are known, and of the file system. */
async function workOf(reading: DirectoryReading, paths: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const spies = {
    stat: vi.spyOn(syncFileSystem, "stat"),
    lstat: vi.spyOn(syncFileSystem, "lstat"),
    open: vi.spyOn(syncFileSystem, "open"),
    readdir: vi.spyOn(syncFileSystem, "readdir"),
    get: vi.spyOn(Map.prototype, "get"),
    has: vi.spyOn(Map.prototype, "has"),
    set: vi.spyOn(Map.prototype, "set"),
  };
  await reading.look(new Set(paths), { isPatient: true });
  const counts = Object.entries(spies).map(([name, spy]) => [name, spy.mock.calls.length] as const);
  for (const spy of Object.values(spies)) spy.mockRestore();
  return Object.fromEntries(counts);
}

test("a changed file is one file looked at, however many others there are", async () => {
  const work: Readonly<Record<string, number>>[] = [];
  for (const count of [1_000, 2_000]) {
    const files = Array.from({ length: count }, (_, index) => [`${index}.yaml`, cluster(`c${index}`)] as const);
    const directory = temporaryDirectory(Object.fromEntries(files));
    const reading = new DirectoryReading({ ...options, directory, fileSystem: syncFileSystem });
    await reading.look(new Set([""]), { isPatient: false });
    write(directory, "5.yaml", `${cluster("c5")}alt_stat_name: first\n`);
    await reading.look(new Set(["5.yaml"]), { isPatient: true });
    write(directory, "5.yaml", `${cluster("c5")}alt_stat_name: second\n`);
    work.push(await workOf(reading, ["5.yaml"]));
    const { load } = await reading.look(new Set(["5.yaml"]), { isPatient: true });
    expect([load.state?.resources, load.problems]).toEqual([count, []]);
  }
  const [few, many] = work;
  expect(few).toMatchObject({ stat: 1, open: 1, readdir: 0 });
  expect(many).toMatchObject({ stat: 1, open: 1, readdir: 0 });
  const calls = [few, many].map(({ get = 0, has = 0, set = 0 } = {}) => get + has + set);
  expect((calls[1] ?? 0) - (calls[0] ?? 0)).toBeLessThan(50); // a lookup for each chunk
});

test("a file that is gone is not looked for among all others", async () => {
  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${index}.yaml`);
  const directory = temporaryDirectory(
    Object.fromEntries(names(200).map((name, index) => [name, cluster(`c${index}`)])),
  );
  const reading = new DirectoryReading({ ...options, directory, fileSystem: syncFileSystem });
  await reading.look(new Set([""]), { isPatient: false });
  for (const name of names(100)) rmSync(join(directory, name));
  expect(await workOf(reading, names(100))).toMatchObject({ stat: 100, lstat: 100, open: 0, readdir: 0 });
  const { load } = await reading.look(new Set([]), { isPatient: true });
  expect([load.state?.resources, load.problems]).toEqual([100, []]);
});

test("folders that are gone cost what was in them, however many others there are", async () => {
  const workAmong = async (count: number): Promise<readonly number[]> => {
    const names = Array.from({ length: count }, (_, index) => `f${index}`);
    const files = names.map((name) => [`${name}/a.yaml`, cluster(name)] as const);
    const directory = temporaryDirectory(Object.fromEntries(files));
    const reading = new DirectoryReading({ ...options, directory, fileSystem: syncFileSystem });
    await reading.look(new Set([""]), { isPatient: false });
    const gone = names.slice(0, count / 2);
    for (const name of gone) rmSync(join(directory, name), { recursive: true });
    const compared = vi.spyOn(String.prototype, "startsWith");
    const { get = 0, has = 0, set = 0 } = await workOf(reading, gone);
    const comparisons = compared.mock.calls.length;
    compared.mockRestore();
    const { load } = await reading.look(new Set([]), { isPatient: true });
    expect([load.state?.resources, load.problems]).toEqual([count / 2, []]);
    return [comparisons, get + has + set];
  };
  const few = await workAmong(100);
  const many = await workAmong(200);
  expect(many.map((work, index) => Math.round(work / (few[index] ?? 0)))).toEqual([2, 2]);
});

test("folders in folders that all may have changed are looked at once", async () => {
  const folders = Array.from({ length: 20 }, (_, depth) =>
    Array(depth + 1)
      .fill("f")
      .join("/"),
  );
  const files = folders.map((folder) => `${folder}/a.yaml`);
  const directory = temporaryDirectory(Object.fromEntries(files.map((file, index) => [file, cluster(`c${index}`)])));
  const reading = new DirectoryReading({ ...options, directory, fileSystem: syncFileSystem });
  await reading.look(new Set([""]), { isPatient: false });
  write(directory, "f/a.yaml", cluster("new"));
  write(directory, files.at(-1) ?? "", cluster("newest"));
  expect(await workOf(reading, [...files, ...folders])).toMatchObject({ readdir: 20, open: 2, lstat: 0 });
  const { load } = await reading.look(new Set([]), { isPatient: true });
  const names = (load.state?.layers.get("base") ?? []).map(({ name }) => name);
  expect([names.length, names.includes("new"), names.includes("newest")]).toEqual([20, true, true]);
});

test("of warnings in many files only those that are told are placed", async () => {
  const list = (file: string, ms: number): string =>
    Array.from({ length: 1_000 }, (_, i) => {
      const text = `${cluster(`${file}-${i}`, i === 7 ? `${ms / 1000}s` : "1s")}cleanup_interval: 0s\n`;
      return `- ${text.trimEnd().replaceAll("\n", "\n  ")}\n`;
    }).join("");
  const shows = vi.spyOn(SourceText.prototype, "show");
  const placed: number[][] = [];
  for (const count of [11, 13]) {
    const names = Array.from({ length: count }, (_, index) => `f${10 + index}`);
    const directory = temporaryDirectory(Object.fromEntries(names.map((name) => [`${name}.yaml`, list(name, 1)])));
    const reading = new DirectoryReading({ ...options, directory, fileSystem: syncFileSystem });
    const look = async (paths: readonly string[]): Promise<readonly Problem[]> => {
      shows.mockClear();
      const { load } = await reading.look(new Set(paths), { isPatient: true });
      expect(problemCounts(load.problems)).toEqual({ errors: 0, warnings: count * 1_000 });
      return load.problems;
    };
    const first = await look([""]);
    const atStart = shows.mock.calls.length;
    write(directory, "f20.yaml", list("f20", 2));
    await look(["f20.yaml"]);
    placed.push([atStart, shows.mock.calls.length]);
    // The next file's warnings are told once the first has none.
    write(directory, "f10.yaml", list("f10", 1).replaceAll("0s", "9s"));
    shows.mockClear();
    const { load } = await reading.look(new Set(["f10.yaml"]), { isPatient: true });
    const inFile = (problems: readonly Problem[], file: string): readonly Problem[] =>
      problems.filter((problem) => problem.file === file);
    expect([inFile(first, "f20.yaml").length, inFile(load.problems, "f10.yaml").length]).toEqual([0, 0]);
    const late = inFile(load.problems, "f20.yaml");
    const line = list("f20", 2).split("\n").indexOf("  cleanup_interval: 0s") + 1;
    expect([late.length, late[0]]).toEqual([
      1_000,
      expect.objectContaining({
        code: "PGV_GT",
        line,
        path: "[0].cleanup_interval",
        excerpt: "  cleanup_interval: 0s",
      }),
    ]);
  }
  shows.mockRestore();
  expect(placed).toEqual([
    [10_000, 0],
    [10_000, 0],
  ]);
});

test("changes of a large file are read into the memory that it had before", async () => {
  const item = (i: number, ms: number): string => cluster(`c${i}`, i === 7 ? `${ms / 1000}s` : "1s").trimEnd();
  const listOf = (ms: number): string =>
    Array.from({ length: 20_000 }, (_, i) => `- ${item(i, ms).replaceAll("\n", "\n  ")}\n`).join("");
  const directory = temporaryDirectory({ "list.yaml": listOf(1) });
  const reading = new DirectoryReading({ ...options, directory, fileSystem: syncFileSystem });
  const look = async (paths: readonly string[]): Promise<unknown> => {
    const { load } = await reading.look(new Set(paths), { isPatient: true });
    return [load.state?.resources, load.problems];
  };
  await look([""]);
  write(directory, "list.yaml", listOf(2));
  await look(["list.yaml"]);
  const allocate = vi.spyOn(Buffer, "allocUnsafeSlow");
  for (const ms of [3, 4, 4, 50, 6]) {
    write(directory, "list.yaml", listOf(ms));
    expect(await look(["list.yaml"])).toEqual([20_000, []]);
  }
  const allocated = allocate.mock.calls.length;
  allocate.mockRestore();
  expect(allocated).toBe(0);
});
