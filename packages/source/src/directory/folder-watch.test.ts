import { mkdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary-directory.ts";
import { FolderWatch } from "./folder-watch.ts";

/** Follows a directory with these folders. */
function followed(paths: readonly string[]): {
  readonly watch: FolderWatch;
  readonly folders: ReadonlyMap<string, string>;
} {
  const directory = realpathSync(temporaryDirectory());
  for (const path of paths) mkdirSync(join(directory, path), { recursive: true });
  const folders = new Map(["", ...paths].map((path) => [path, join(directory, path)]));
  const watch = new FolderWatch(directory, () => undefined);
  onTestFinished(() => watch.close());
  watch.follow(folders);
  return { watch, folders };
}

test("a folder that may have been replaced is dropped with those below it, and watched again", () => {
  const { watch, folders } = followed(["a", "a/b", "a/b/c", "ab"]);
  expect(watch.follow(folders)).toEqual([]);
  watch.forget("a/b");
  expect(watch.follow(folders)).toEqual(["a/b", "a/b/c"]);
  watch.forget("");
  expect(watch.follow(folders)).toEqual(["", "a", "a/b", "a/b/c", "ab"]);
});

test("all folders are watched anew once a folder around the directory is another one", () => {
  const { watch, folders } = followed(["a"]);
  const around = dirname(folders.get("") ?? "");
  renameSync(around, `${around}-before`);
  onTestFinished(() => rmSync(`${around}-before`, { recursive: true }));
  mkdirSync(join(around, "config/a"), { recursive: true });
  expect(watch.follow(folders)).toEqual(["", "a", ".."]);
  expect(watch.follow(folders)).toEqual([]);
});

test("a folder is dropped without a look at every other one", () => {
  const workOf = (count: number): number => {
    const names = Array.from({ length: count }, (_, index) => `f${index}`);
    const { watch, folders } = followed(names);
    const spies = [
      vi.spyOn(String.prototype, "startsWith"),
      vi.spyOn(Map.prototype, "get"),
      vi.spyOn(Map.prototype, "has"),
      vi.spyOn(Map.prototype, "delete"),
    ];
    for (const name of names) watch.forget(name);
    const work = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
    for (const spy of spies) spy.mockRestore();
    expect(watch.follow(folders)).toEqual(names);
    return work;
  };
  expect(workOf(200)).toBe(2 * workOf(100));
});
