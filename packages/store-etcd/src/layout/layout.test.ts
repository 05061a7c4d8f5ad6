import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBatch, encodeBatch, formatRecords, PART_BYTES, parseRecords, partsOf } from "./batch.ts";
import { endOf, Keys } from "./keys.ts";
import { sealOf } from "./seal.ts";

const line = fc.string({ unit: "binary" }).filter((text) => !text.includes("\n"));

test("records are read as they were written", () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), (texts) => {
      const records = texts.map((text, i) => ({ number: i + 1, id: `id${i}`, text }));
      const batch = { attempt: "ab12", parts: 0, text: formatRecords(records) };
      const read = decodeBatch(encodeBatch(batch), "key");
      expect([read, parseRecords(read.text, "key")]).toEqual([batch, records]);
    }),
  );
});

test("a value is cut into parts that are the whole again, and at least one", () => {
  for (const length of [0, 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES]) {
    const bytes = Buffer.alloc(length, "x");
    const parts = partsOf(bytes);
    expect([parts.length, Buffer.concat(parts).equals(bytes)]).toEqual([
      Math.max(1, Math.ceil(length / PART_BYTES)),
      true,
    ]);
  }
});

test("keys sort as the numbers of their records, and stay below their prefix", () => {
  const keys = new Keys("xdskit");
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (a, b) => {
      expect(keys.batch(a) < keys.batch(b)).toBe(a < b);
      expect(keys.batch(a) >= keys.batches && keys.batch(a) < endOf(keys.batches)).toBe(true);
    }),
  );
  expect([new Keys("a/").head, keys.head, keys.blobOf(keys.chunk("b1", 2)), keys.digestOf(keys.body("d1"))]).toEqual([
    "a/head",
    "xdskit/head",
    "b1",
    "d1",
  ]);
});

test("a sealed value is opened with its key, at its place, unchanged, and not otherwise", () => {
  const [key, other] = [sealOf(randomBytes(32)), sealOf(randomBytes(32))];
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(), (bytes, at) => {
      const sealed = key.close(bytes, "here");
      expect([...key.open(sealed, "here")]).toEqual([...bytes]);
      const changed = Buffer.from(sealed);
      const index = 1 + (at % (changed.length - 1));
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => key.open(changed, "here")).toThrow("encrypted with another key, or damaged");
      expect(() => key.open(sealed, "there")).toThrow("encrypted with another key, or damaged");
      expect(() => other.open(sealed, "here")).toThrow("encrypted with another key, or damaged");
    }),
  );
});

test("a key is 32 bytes or 64 digits", () => {
  const hex = sealOf(Buffer.from(`${"0a".repeat(32)}\n`));
  expect(
    sealOf(Buffer.alloc(32, 10))
      .open(hex.close(Buffer.from("a"), "x"), "x")
      .toString(),
  ).toBe("a");
  for (const bad of ["", "0a", "x".repeat(64), "0".repeat(63)])
    expect(() => sealOf(Buffer.from(bad))).toThrow(TypeError);
});
