import { expect, test } from "vitest";
import { describeTtl } from "./describe-ttl.ts";

test.each([
  [undefined, []],
  ["told", []],
  ["not-announced", ["ttl left off: the client does not announce it"]],
  ["unsafe", ["ttl left off: expiry would harm this client"]],
  ["v2", ["ttl left off: v2 has none"]],
] as const)("%s is shown as %j", (ttl, shown) => {
  expect(describeTtl(ttl)).toEqual(shown);
});
