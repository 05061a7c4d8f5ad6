import { describe, expect, test } from "vitest";
import { fixed64Tag, lengthTag, varintTag, WireReader } from "./reader.ts";
import { WireError } from "./wire-error.ts";

const read = (hex: string): WireReader => new WireReader(Buffer.from(hex.replaceAll(" ", ""), "hex"));
const skipOne = (hex: string): number => {
  const reader = read(hex);
  reader.skip(reader.tag());
  return reader.position;
};

describe("a number", () => {
  test.each([
    ["00", 0],
    ["7f", 127],
    ["80 01", 128],
    ["ff ff 7f", 0x1f_ffff],
    ["ff ff ff ff 07", 0x7fff_ffff],
    ["ff ff ff ff 0f", -1],
    ["ff ff ff ff ff ff ff ff ff 01", -1],
    ["80 80 80 80 f8 ff ff ff ff 01", -0x8000_0000],
  ])("%s as int32 is %i", (hex, value) => {
    expect(read(hex).int32()).toBe(value);
  });

  test.each([
    ["ff ff ff ff 0f", 0xffff_ffff],
    ["80 80 80 80 10", 0x1_0000_0000],
    ["ff ff ff ff ff ff ff 0f", Number.MAX_SAFE_INTEGER],
    ["ff ff ff ff ff ff ff ff ff 01", -1],
    ["80 80 80 80 80 80 80 80 80 01", -(2 ** 63)],
  ])("%s as int64 is %i", (hex, value) => {
    expect(read(hex).int64()).toBe(value);
  });

  test("that is only set above 32 bits is still true", () => {
    expect(read("80 80 80 80 10").bool()).toBe(true);
  });

  test.each(["", "80", "ff ff ff ff ff ff ff ff ff", "80 80 80 80 80 80 80 80 80 80 01"])("%s is none", (hex) => {
    expect(() => read(hex).int64()).toThrow(WireError);
  });
});

describe("a tag", () => {
  test("is field number and wire type", () => {
    expect([read("0a").tag(), read("08").tag(), read("11").tag()]).toEqual([lengthTag(1), varintTag(1), fixed64Tag(2)]);
  });

  test.each(["00", "02", "0e", "0f", "80 80 80 80 10", "80 80 80 80 80 80 80 80 80 01"])("is not %s", (hex) => {
    expect(() => read(hex).tag()).toThrow(WireError);
  });

  test("may have the largest field number", () => {
    expect(read("fa ff ff ff 0f").tag() >>> 3).toBe(2 ** 29 - 1);
  });
});

describe("text", () => {
  test("that is not UTF-8 has U+FFFD where it is wrong", () => {
    expect(read("05 61 ff c3 28 62").string()).toBe("a\ufffd\ufffd(b");
  });

  test.each(["05 61", "ff ff ff ff 0f 61", "80 80 80 80 10 61"])("must be as long as it says: %s", (hex) => {
    expect(() => read(hex).string()).toThrow(WireError);
  });

  test("ends where the message does that it is in", () => {
    const outer = read("02 05 61 62 63 64 65");
    expect(() => outer.message().string()).toThrow(WireError);
  });
});

describe("what nobody reads is passed over (B-MSC-09)", () => {
  test.each([
    ["a varint", "98 3e 96 01", 4],
    ["eight bytes", "99 3e 00 00 00 00 00 00 00 00", 10],
    ["a length", "9a 3e 02 61 62", 5],
    ["a group", "9b 3e 08 01 9b 3e 9c 3e 9c 3e", 10],
    ["four bytes", "9d 3e 00 00 00 00", 6],
  ])("%s", (_what, hex, length) => {
    expect(skipOne(hex)).toBe(length);
  });

  test.each([
    ["a group without an end", "9b 3e 08 01"],
    ["a group that another's end closes", "9b 3e 9c 3f"],
    ["an end without a group", "9c 3e"],
    ["eight bytes cut off", "99 3e 00 00 00"],
    ["a thousand groups in one another", "0b".repeat(1000) + "0c".repeat(1000)],
  ])("but not %s", (_what, hex) => {
    expect(() => skipOne(hex)).toThrow(WireError);
  });
});

describe("a view", () => {
  test("of bytes is no copy, and of a part of a larger array too", () => {
    const all = Uint8Array.of(9, 9, 2, 7, 8, 9);
    const bytes = new WireReader(all.subarray(2, 5)).bytes();
    all[3] = 1;
    expect([...bytes]).toEqual([1, 8]);
  });
});
