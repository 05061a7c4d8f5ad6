import { formatPath } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { findMetadataProblems } from "./node-metadata.ts";

function told(metadata: unknown): readonly string[] {
  return findMetadataProblems(metadata).map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

function nested(levels: number): object {
  let value: object = {};
  for (let level = 2; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return { a: value };
}

const circle: Record<string, unknown> = { inner: [] };
circle["inner"] = [1, circle];
const shared = { a: 1 };
let explosion: object = {};
for (let level = 0; level < 30; level++) explosion = { a: explosion, b: explosion };
class Custom {
  readonly a = 1;
}
const bare: object = Object.create(null);

describe("metadata that a Struct holds", () => {
  test.each<[string, unknown]>([
    ["JSON", { a: [1, "b", true, null, { c: -0.5 }] }],
    ["an undefined field", { a: undefined }],
    ["an object twice", { a: shared, b: [shared] }],
    ["an object without a prototype", { a: bare }],
    ["a key that JavaScript treats specially", JSON.parse('{"__proto__":{"a":1}}')],
    ["32 levels", nested(32)],
  ])("%s", (_, metadata) => {
    expect(told(metadata)).toEqual([]);
  });
});

describe("metadata that a Struct cannot hold", () => {
  test.each<[string, unknown, string]>([
    ["a function", { a: () => {} }, "a: expected a JSON value, got a function"],
    ["a bigint", { a: 1n }, "a: expected a JSON value, got a bigint"],
    ["a symbol", { a: Symbol("s") }, "a: expected a JSON value, got a symbol"],
    ["no number", { a: [0, Number.NaN] }, "a[1]: expected a JSON value, got NaN"],
    ["infinity", { a: { b: Number.NEGATIVE_INFINITY } }, "a.b: expected a JSON value, got -Infinity"],
    ["a date", { a: new Date(0) }, "a: expected a JSON value, got an instance of Date"],
    ["a map", { a: new Map() }, "a: expected a JSON value, got an instance of Map"],
    ["bytes", { a: new Uint8Array(1) }, "a: expected a JSON value, got an instance of Uint8Array"],
    ["an instance", { a: new Custom() }, "a: expected a JSON value, got an instance of Custom"],
    ["an undefined item", { a: [undefined] }, "a[0]: expected a JSON value, got undefined"],
    ["a hole", { a: new Array(1) }, "a[0]: expected a JSON value, got undefined"],
    ["a circle", circle, "inner[1]: expected a JSON value, got a circular reference"],
    [
      "a getter that throws",
      {
        get a() {
          throw new Error("no");
        },
      },
      "a: expected a JSON value, got an exception when it was read",
    ],
    ["an object that doubles at each level", explosion, ": expected at most 100000 values, got more"],
  ])("%s", (_, metadata, message) => {
    expect(told(metadata)).toEqual([message]);
  });

  test.each([33, 20_000])("%d levels", (levels) => {
    const [only, ...others] = told(nested(levels));
    expect(others).toEqual([]);
    expect(only).toMatch(/^a.*: expected at most 32 levels of nesting, got more$/);
  });

  test("each problem is reported, up to ten", () => {
    expect(told({ a: 1n, b: [() => {}] })).toHaveLength(2);
    expect(told({ a: Array.from({ length: 50 }, () => 1n) })).toHaveLength(10);
  });
});
