import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("support/count-shapes.mjs", import.meta.url));
const built = fileURLToPath(new URL("../dist", import.meta.url));

test("the objects of a stream have the shapes of those of any other", () => {
  const told = execFileSync(process.execPath, ["--expose-gc", script, built], { encoding: "utf8" });
  const { before, ofEachStream } = JSON.parse(told) as { readonly before: number; readonly ofEachStream: number };
  expect({ areAny: before > 100, ofEachStream: Math.round(ofEachStream) }).toEqual({ areAny: true, ofEachStream: 0 });
});
