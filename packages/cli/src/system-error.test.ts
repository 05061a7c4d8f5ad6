import { expect, test } from "vitest";
import { systemErrorReason } from "./system-error.ts";

test.each([
  ["ENOSPC: no space left on device, write", "no space left on device"],
  ["ENOENT: no such file or directory, open '/a, b'", "no such file or directory"],
  ["connect failed", "connect failed"],
])("the reason of %s is %s", (message, reason) => {
  expect(systemErrorReason(new Error(message))).toBe(reason);
});
