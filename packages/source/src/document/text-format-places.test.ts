import { expect, test } from "vitest";
import { findInTextFormat } from "./text-format-places.ts";

const text = `# head { "
name: "a" 'b' # two strings, one value
list: [1, 2,
  3]
message { inner: <deep: "}" deep: 'x'>; other: -1.5e3 }
message: { inner { deep: "y" } }
any {
  [type.googleapis.com/my.Message] { field: ENUM }
}
labels { key: "k" value: "v" }
last: true`;

test.each<[(string | number)[], string]>([
  [[], "name:"],
  [["name"], "name:"],
  [["list"], "list:"],
  [["list", 0], "1, 2,"],
  [["list", 2], "3]"],
  [["message", 0, "inner"], "inner: <"],
  [["message", 0, "inner", "deep", 1], "deep: 'x'"],
  [["message", 0, "other"], "other: -1.5"],
  [["message", 1, "inner", "deep"], 'deep: "y"'],
  [["any", "field"], "field: ENUM"],
  [["any", "missing"], "any {"],
  [["labels", "k"], "labels {"],
  [["message", 7], "name:"],
  [["last"], "last: true"],
])("%j leads to %j", (path, expected) => {
  expect(text.slice(findInTextFormat(text, path)).slice(0, expected.length)).toBe(expected);
});
