import fc from "fast-check";
import { expect, test } from "vitest";
import { contentDigest as inBrowser } from "./digest.browser.ts";
import { contentDigest } from "./digest.ts";

test("a browser makes the same digests", () => {
  const part = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.uint8Array({ maxLength: 300 }));
  fc.assert(fc.property(fc.array(part, { maxLength: 5 }), (parts) => inBrowser(parts) === contentDigest(parts)));
});

test("whatever of a block is left for the length", () => {
  const parts = Array.from({ length: 130 }, (_, length) => [new Uint8Array(length).fill(0xff)]);
  expect(parts.map(inBrowser)).toEqual(parts.map(contentDigest));
});
