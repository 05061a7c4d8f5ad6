import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory } from "./make-directory.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-disk-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const modeOf = (...path: readonly string[]): number => statSync(join(directory, ...path)).mode & 0o777;

test("those above are made too, with the same mode, and what is there stays as it is", () => {
  makeDirectory(join(directory, "a"), 0o755);
  makeDirectory(join(directory, "a", "b", "c"), 0o700);
  makeDirectory(join(directory, "a", "b", "c"), 0o755);
  expect([modeOf("a"), modeOf("a", "b"), modeOf("a", "b", "c")]).toEqual([0o755, 0o700, 0o700]);
});

test("a link to a directory is one", () => {
  symlinkSync(tmpdir(), join(directory, "link"));
  expect(() => makeDirectory(join(directory, "link"))).not.toThrow();
});

test("where something else is there is an error", () => {
  writeFileSync(join(directory, "file"), "");
  symlinkSync(join(directory, "nowhere"), join(directory, "dangling"));
  expect(() => makeDirectory(join(directory, "file"))).toThrow(/^EEXIST/);
  expect(() => makeDirectory(join(directory, "file", "a", "b"))).toThrow(/^ENOTDIR/);
  expect(() => makeDirectory(join(directory, "dangling"))).toThrow(/^EEXIST/);
  expect(() => makeDirectory(join(directory, "dangling", "a"))).toThrow(/^EEXIST/);
});

test.runIf(process.platform === "linux")("where there can be none is an error, and not tried for ever", () => {
  expect(() => makeDirectory("/proc/x")).toThrow(/^ENOENT/);
  expect(() => makeDirectory("/proc/x/y")).toThrow(/^ENOENT/);
});
