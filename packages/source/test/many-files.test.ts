import { createEnvoyApi } from "@xdskit/envoy-api";
import { expect, test, vi } from "vitest";
import { DirectoryReading } from "../src/directory/directory-reading.ts";
import { syncFileSystem } from "../src/directory/file-system.ts";
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
