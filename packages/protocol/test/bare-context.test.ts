import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("support/bare-context.mjs", import.meta.url));
const built = fileURLToPath(new URL("../dist", import.meta.url));

test("both halves run where there is nothing but the language, as in a browser", () => {
  const args = ["--experimental-vm-modules", "--no-warnings", script, built];
  expect(JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }))).toEqual(["changed a", "absent b"]);
});
