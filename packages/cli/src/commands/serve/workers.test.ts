import { expect, test } from "vitest";
import { applyWith } from "./workers.ts";

test.each([
  ["limits.max-streams", "SIGHUP"],
  ["tls.cert", "SIGHUP"],
  ["max-debounce", "SIGHUP"],
  ["limits.max-file-bytes", "restart"],
  ["admin-tls.cert", "restart"],
  ["listeners", "restart"],
  ["fuses.size-floor", "restart"],
])("a change of %s is applied with %s", (setting, how) => {
  expect(applyWith(setting)).toBe(how);
});
