import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory, write } from "../../test/support/temporary-directory.ts";
import { FileWatch } from "./file-watch.ts";

test("a change in a folder that could not be watched is reported with the next files", async () => {
  const directory = temporaryDirectory();
  const changed: string[] = [];
  const watch = new FileWatch((path) => changed.push(path));
  onTestFinished(() => watch.close());
  const files = new Set([join(directory, "later/a.mjs")]);
  const sinceMs = Date.now();
  await watch.follow(files, sinceMs);
  write(directory, "later/a.mjs", "export default [];");
  await watch.follow(files, sinceMs);
  expect(changed).toEqual([...files]);
});
