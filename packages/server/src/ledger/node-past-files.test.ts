import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodePastLine } from "@xdskit/protocol/internal";
import { expect, onTestFinished, test } from "vitest";
import { NodePastFiles } from "./node-past-files.ts";

const line = (number: number): NodePastLine => ({ time: number, number, id: "a" });

test("goes on after the newest file was removed, also where it was to take the place of the older one", async () => {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-past-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const files = await NodePastFiles.open(directory, 20);
  const read = async (): Promise<readonly number[]> => {
    const numbers: number[] = [];
    for await (const { number } of files.read("a")) numbers.push(number);
    return numbers;
  };
  await files.append([line(1), line(2)], []);
  rmSync(join(directory, "newest.log"));
  await files.append([line(3)], [line(2)]);
  expect(await read()).toEqual([2, 3]);
  await files.append([line(4)], [line(3)]);
  expect(await read()).toEqual([2, 3, 3, 4]);
});
