import { describe, expect, test } from "vitest";
import { WireReader } from "./reader.ts";
import { varintLength, WireWriter } from "./writer.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("a message in a message", () => {
  test.each([0, 1, 125, 126, 127, 128, 16_380, 16_384, 3_000_000])("of %i bytes gets its length in front", (length) => {
    const content = new Uint8Array(length).fill(5);
    const written = new WireWriter()
      .message(1, (inner) => inner.bytes(2, content))
      .bool(3, true)
      .finish();
    const reader = new WireReader(written);
    reader.tag();
    const inner = reader.message();
    inner.tag();
    const found = inner.bytes();
    expect({ same: Buffer.compare(found, content), isAtEnd: !inner.hasMore, next: reader.tag() }).toEqual({
      same: 0,
      isAtEnd: true,
      next: 0x18,
    });
  });
});

describe("a number", () => {
  test.each([
    0,
    1,
    127,
    128,
    2 ** 31 - 1,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    -1,
    -(2 ** 31),
    -(2 ** 32),
    -(2 ** 53) + 1,
  ])("%i comes back", (value) => {
    const reader = new WireReader(new WireWriter().integerAlways(1, value).finish());
    reader.tag();
    expect(reader.int64()).toBe(value);
  });

  test.each([0, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, 0xfff_ffff, 0x1000_0000, 0xffff_ffff])(
    "%i takes as many bytes as varintLength says",
    (value) => {
      expect(new WireWriter().integerAlways(1, value).finish().length).toBe(1 + varintLength(value));
    },
  );
});

describe("text", () => {
  test("is UTF-8, with U+FFFD for half a character", () => {
    expect(hex(new WireWriter().string(1, "ä😀\ud83d").finish())).toBe("0a09c3a4f09f9880efbfbd");
  });

  test("that is empty is written or left out as asked", () => {
    expect(hex(new WireWriter().string(1, "").optionalString(2, "").optionalString(3, undefined).finish())).toBe(
      "0a00",
    );
  });
});

describe("a writer that is used again", () => {
  test("begins anew, and what was finished stays", () => {
    const writer = new WireWriter(4);
    const first = writer.string(1, "first message").finish();
    const second = hex(writer.clear().string(1, "b").written);
    expect({ first: hex(first), second }).toEqual({
      first: `0a0d${Buffer.from("first message").toString("hex")}`,
      second: "0a0162",
    });
  });
});
