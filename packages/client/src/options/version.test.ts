import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VERSION } from "./version.ts";

test("the version that servers are told is that of the package", () => {
  const url = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(url, "utf8")) as { version: string };
  expect(VERSION).toBe(version);
});
