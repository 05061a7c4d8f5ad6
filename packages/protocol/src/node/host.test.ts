import { expect, test } from "vitest";
import { hostOf } from "./host.ts";

test.each([
  ["127.0.0.1:18000", "127.0.0.1"],
  ["[::1]:18000", "[::1]"],
  ["[::1]", "[::1]"],
  ["::1", "::1"],
  ["localhost", "localhost"],
  ["", ""],
])("the host of %j is %j", (address, host) => {
  expect(hostOf(address)).toBe(host);
});
