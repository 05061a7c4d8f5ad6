import fc from "fast-check";
import { expect, test } from "vitest";
import {
  decodeLease,
  decodeRange,
  decodeToken,
  decodeTransaction,
  decodeWatch,
  encodeTransaction,
} from "./messages.ts";
import { ProtoWriter, readFields } from "./proto.ts";

test("every field that is written is read again, but for zero and empty values", () => {
  const field = fc.tuple(
    fc.integer({ min: 1, max: 200 }),
    fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.uint8Array()),
  );
  fc.assert(
    fc.property(fc.array(field), (fields) => {
      const writer = new ProtoWriter();
      for (const [number, value] of fields)
        if (typeof value === "bigint") writer.int(number, value);
        else writer.bytes(number, value);
      const read = [...readFields(writer.finish())].map(({ field: number, int, bytes }) => [number, int, [...bytes]]);
      const written = fields.flatMap(([number, value]) => {
        if (typeof value === "bigint") return value === 0n ? [] : [[number, value, []]];
        return value.length === 0 ? [] : [[number, 0n, [...value]]];
      });
      expect(read).toEqual(written);
    }),
  );
});

test("bytes that are no message are a RangeError, and nothing else", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      for (const decode of [decodeRange, decodeTransaction, decodeWatch, decodeLease, decodeToken]) {
        try {
          decode(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
    }),
  );
});

test("a transaction has the field numbers of etcd", () => {
  const bytes = encodeTransaction({
    compare: [
      { key: "a", createRevision: 0n },
      { key: "b", value: Buffer.from("v") },
    ],
    success: [{ put: "k", value: Buffer.from("w"), lease: 7n }, { touch: "t" }],
    failure: [{ range: { key: "k", keysOnly: true } }, { delete: "d", end: "e" }],
  });
  expect(bytes.toString("hex")).toBe(
    [
      // Compare: target CREATE, key "a"; target VALUE, key "b", value "v".
      ...["0a05", "1001", "1a0161", "0a08", "1003", "1a0162", "3a0176"],
      // Put: key "k", value "w", lease 7; key "t", ignore_value.
      ...["120a", "1208", "0a016b", "120177", "1807", "1207", "1205", "0a0174", "2801"],
      // Range: key "k", keys_only. DeleteRange: key "d", range_end "e".
      ...["1a07", "0a05", "0a016b", "4001", "1a08", "1a06", "0a0164", "120165"],
    ].join(""),
  );
});
