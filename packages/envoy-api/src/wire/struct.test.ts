import { describe, expect, test } from "vitest";
import { mutate, seededChance } from "../../test/support/mutation.ts";
import { WireReader } from "./reader.ts";
import { checkStruct, readStruct, writeStruct } from "./struct.ts";
import { WireError } from "./wire-error.ts";
import { WireWriter } from "./writer.ts";

function encoded(struct: Readonly<Record<string, unknown>>): Buffer {
  const writer = new WireWriter();
  writeStruct(writer, struct);
  return Buffer.from(writer.finish());
}

function throughTheWire(struct: Readonly<Record<string, unknown>>): unknown {
  return readStruct(new WireReader(encoded(struct)));
}

/** Why the bytes are no struct. */
function refusal(read: (reader: WireReader) => unknown, bytes: Uint8Array): string | undefined {
  try {
    read(new WireReader(bytes));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** A list in a list in a list … */
function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 1; i < depth; i++) value = [value];
  return value;
}

describe("a Struct", () => {
  test("is plain JSON", () => {
    const json = { a: null, b: [1, -0.5, "x", true, [], {}], c: { "": { d: "ä" } } };
    expect(throughTheWire(json)).toStrictEqual(json);
  });

  test("has null for what JSON cannot say, and nothing for what is undefined", () => {
    const struct = { a: Number.NaN, b: Number.POSITIVE_INFINITY, c: undefined, d: [undefined, () => 1], e: 1n };
    expect(throughTheWire(struct)).toStrictEqual({ a: null, b: null, d: [null, null], e: null });
  });

  test("with the field __proto__ has a field, and the usual prototype", () => {
    const read = throughTheWire(JSON.parse('{"__proto__": {"isAdmin": true}, "constructor": 1}'));
    expect({ keys: Object.keys(read as object), isAdmin: (read as { isAdmin?: unknown }).isAdmin }).toEqual({
      keys: ["__proto__", "constructor"],
      isAdmin: undefined,
    });
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  test("may be nested 64 levels deep and no deeper", () => {
    expect(throughTheWire({ a: nested(63) })).toEqual({ a: nested(63) });
    expect(() => throughTheWire({ a: nested(64) })).toThrow(WireError);
    expect(() => throughTheWire({ a: nested(500) })).toThrow(WireError);
  });

  test("takes the number that JSON has no sign for as null, and unknown kinds too", () => {
    // fields: "a" -> Value{number_value NaN}, "b" -> Value{} , "c" -> Value{field 9}
    const bytes = Buffer.from("0a0e0a0161120911000000000000f87f0a050a016212000a070a016312024801", "hex");
    expect(readStruct(new WireReader(bytes))).toStrictEqual({ a: null, b: null, c: null });
  });
});

describe("a check of a Struct", () => {
  test.each([
    ["lists", (inner: unknown) => [inner]],
    ["objects", (inner: unknown) => ({ inner })],
  ])("refuses more than 64 levels of %s, as reading does", (_, within) => {
    let value: unknown = "x";
    for (let depth = 1; depth < 64; depth++) value = within(value);
    const [most, tooMany] = [{ value }, { value: within(value) }].map(encoded);
    const refusals = [most, tooMany].map((bytes = Buffer.alloc(0)) => [
      refusal(checkStruct, bytes),
      refusal(readStruct, bytes),
    ]);
    const tooDeep = "WireError: metadata nested deeper than 64";
    expect(refusals).toEqual([
      [undefined, undefined],
      [tooDeep, tooDeep],
    ]);
  });

  test("refuses the damaged bytes that reading refuses, and no others", () => {
    const deep = { value: nested(60) };
    const seeds = [{ a: { b: [1, "x", null, true, [[]], {}] }, "": 2, c: [{ d: [{ e: "f" }] }] }, deep].map(encoded);
    const chance = seededChance(20_261);
    const [checked, read]: [(string | undefined)[], (string | undefined)[]] = [[], []];
    for (let run = 0; run < 20_000; run++) {
      const bytes = mutate(seeds, chance);
      checked.push(refusal(checkStruct, bytes));
      read.push(refusal(readStruct, bytes));
    }
    expect(checked).toEqual(read);
    const refused = read.filter((reason) => reason !== undefined).length / read.length;
    expect({ refused, isMixed: refused > 0.2 && refused < 0.9 }).toEqual({ refused, isMixed: true });
  });
});
