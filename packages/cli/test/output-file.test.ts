import { execFileSync } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeOutputFile } from "../src/output-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "xds-output-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const inFolder = (...names: readonly string[]): string => join(folder, ...names);
const write = (path: string, text: string): Promise<void> =>
  writeOutputFile(path, 0o600, (part) => part(Buffer.from(text)));

describe("a file that the user named", () => {
  test("is created with the given permissions, and replaced with them", async () => {
    await write(inFolder("new"), "one");
    await writeFile(inFolder("old"), "before", { mode: 0o644 });
    await write(inFolder("old"), "two");
    const read = await Promise.all(["new", "old"].map((name) => readFile(inFolder(name), "utf8")));
    const modes = await Promise.all(["new", "old"].map(async (name) => (await stat(inFolder(name))).mode & 0o777));
    expect([read, modes]).toEqual([
      ["one", "two"],
      [0o600, 0o600],
    ]);
    expect(await readdir(folder)).toEqual(["new", "old"]);
  });

  test("leaves the files of others alone, whatever their names are", async () => {
    await writeFile(inFolder("file~"), "mine");
    await write(inFolder("file"), "one");
    expect(await readFile(inFolder("file~"), "utf8")).toBe("mine");
  });

  test("may be a symbolic link: its target is replaced", async () => {
    await mkdir(inFolder("there"));
    await writeFile(inFolder("there", "target"), "before");
    await symlink(join("there", "target"), inFolder("link"));
    await write(inFolder("link"), "after");
    expect((await lstat(inFolder("link"))).isSymbolicLink()).toBe(true);
    expect(await readFile(inFolder("there", "target"), "utf8")).toBe("after");
  });

  test("may be a link that dangles: its target is created", async () => {
    await mkdir(inFolder("there"));
    await symlink(join("there", "target"), inFolder("second"));
    await symlink("second", inFolder("first"));
    await write(inFolder("first"), "new");
    expect(await readFile(inFolder("there", "target"), "utf8")).toBe("new");
    expect((await readdir(folder)).toSorted()).toEqual(["first", "second", "there"]);
  });

  test.skipIf(process.platform === "win32")("may be a FIFO: it is written into", async () => {
    execFileSync("mkfifo", [inFolder("fifo")]);
    const [read] = await Promise.all([readFile(inFolder("fifo"), "utf8"), write(inFolder("fifo"), "through")]);
    expect([read, (await lstat(inFolder("fifo"))).isFIFO()]).toEqual(["through", true]);
  });

  test("is unchanged, and alone, when what it is to contain cannot be made", async () => {
    await writeFile(inFolder("file"), "before");
    const failing = writeOutputFile(inFolder("file"), 0o600, async (part) => {
      await part(Buffer.from("half"));
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    expect([await readdir(folder), await readFile(inFolder("file"), "utf8")]).toEqual([["file"], "before"]);
  });

  test.runIf(process.platform === "linux")("is named in the error of a full device", async () => {
    await symlink("/dev/full", inFolder("full"));
    const path = inFolder("full");
    await expect(write(path, "much")).rejects.toMatchObject({ code: "ENOSPC", path });
  });

  test("is none when it is a directory", async () => {
    await expect(write(folder, "text")).rejects.toMatchObject({ code: "EISDIR", path: folder });
  });
});
