import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { contentDigest } from "./digest.ts";

/** The same by another way: the parts laid out as documented, hashed in one go. */
function expected(parts: readonly (string | Uint8Array)[]): bigint {
  const laidOut = parts.flatMap((part) => {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [length, bytes];
  });
  return BigInt(`0x${createHash("sha256").update(Buffer.concat(laidOut)).digest("hex").slice(0, 32)}`);
}

describe("contentDigest", () => {
  test("is the first 128 bits of SHA-256 over the parts, each behind its length", () => {
    const parts = ["name", Uint8Array.of(1, 2, 3), "ä€😀"];
    expect(contentDigest(parts)).toBe(expected(parts));
  });

  test("tells parts apart", () => {
    expect(contentDigest(["ab", "c"])).not.toBe(contentDigest(["a", "bc"]));
    expect(contentDigest([])).not.toBe(contentDigest([""]));
    expect(contentDigest([""])).not.toBe(contentDigest(["", ""]));
  });

  test("does not care whether text came as a string or as its bytes", () => {
    expect(contentDigest(["ä", "b"])).toBe(contentDigest([Buffer.from("ä"), Buffer.from("b")]));
  });

  test.each([10_921, 10_922, 10_923, 32 * 1024])("is the same function at %i characters of three bytes", (length) => {
    const parts = ["€".repeat(length)];
    expect(contentDigest(parts)).toBe(expected(parts));
  });

  test.each([32 * 1024 - 5, 32 * 1024 - 4, 32 * 1024 - 3, 1024 * 1024])(
    "is the same function at %i bytes",
    (length) => {
      const parts = [new Uint8Array(length).fill(7)];
      expect(contentDigest(parts)).toBe(expected(parts));
      expect(contentDigest(["x".repeat(length), "y"])).toBe(expected(["x".repeat(length), "y"]));
    },
  );
});
