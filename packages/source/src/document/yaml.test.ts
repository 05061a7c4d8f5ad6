import { describe, expect, test } from "vitest";
import { readYaml } from "./yaml.ts";

const values = (text: string): readonly unknown[] => readYaml(text).documents.map(({ value }) => value);
const troubles = (text: string): readonly (readonly [string, string])[] =>
  readYaml(text).troubles.map(({ code, message }) => [code, message]);

describe("a merge key", () => {
  test("brings the fields of a mapping that the mapping does not have itself, wherever it stands", () => {
    const text = "base: &base { a: 1, b: 2 }\nbefore:\n  <<: *base\n  b: 3\nafter:\n  b: 3\n  <<: *base\n";
    expect(values(text)).toEqual([{ base: { a: 1, b: 2 }, before: { b: 3, a: 1 }, after: { b: 3, a: 1 } }]);
  });

  test("brings those of several mappings, of which the first goes before the others", () => {
    const text = "x: &x { a: 1 }\ny: &y { a: 2, b: 2 }\nz:\n  <<: [*x, *y]\n  c: 3\n";
    expect(values(text)).toEqual([{ x: { a: 1 }, y: { a: 2, b: 2 }, z: { c: 3, a: 1, b: 2 } }]);
  });

  test("may merge what was merged", () => {
    const text = "x: &x { a: 1 }\ny: &y { <<: *x, b: 2 }\nz: { <<: *y }\n";
    expect(values(text)).toEqual([{ x: { a: 1 }, y: { b: 2, a: 1 }, z: { b: 2, a: 1 } }]);
  });

  test("brings those of as many mappings as a file has", () => {
    const text = `z: { <<: [${"{}, ".repeat(150_000)}{ a: 1 }] }\n`;
    expect(values(text)).toEqual([{ z: { a: 1 } }]);
  });

  test("is a key like any other in quotes", () => {
    expect(values('"<<": 1\n')).toEqual([{ "<<": 1 }]);
  });

  test.each(["<<: 1\n", "<<: [1]\n", "x: &x [a]\ny: { <<: *x }\n"])("merges nothing but mappings: %j", (text) => {
    expect(troubles(text)).toEqual([["YAML_MERGE_KEY", 'expected a mapping or a list of mappings after "<<"']]);
  });

  test("does not multiply what it merges without end", () => {
    const lines = Array.from({ length: 12 }, (_, i) => {
      const merged =
        i === 0 ? "{ k: [1, 2, 3, 4, 5, 6, 7, 8, 9] }" : `{ ${"abcdefghi".replace(/./g, `$&${i}: *l${i - 1}, `)} }`;
      return `l${i}: &l${i} ${merged}\n`;
    });
    expect(troubles(`${lines.join("")}x: { <<: *l11 }\n`).map(([code]) => code)).toEqual(["YAML_ALIAS_BOMB"]);
  });
});

test("a key that stands twice is named, unless it could be a secret", () => {
  expect(troubles("name: a\nname: b\n")).toEqual([
    ["YAML_KEY_DUPLICATE", 'expected each key once in a mapping, got "name" again'],
  ]);
  expect(troubles('"my pass word": a\n"my pass word": b\n')).toEqual([
    ["YAML_KEY_DUPLICATE", "expected each key once in a mapping, got one again"],
  ]);
});

test.each([
  ["a space after a colon, in the last line of a mapping", "a: 1\nb:1\n", 'expected ":" after a key on the same line'],
  ["a space before a comment", 'a: "b"# c\n', 'expected a space before "#"'],
  ["a space after an anchor", "a: &b[c]\n", "expected a space after a tag or an anchor"],
])("what is missing is named: %s", (_, text, message) => {
  expect(troubles(text)).toEqual([["YAML_SYNTAX", message]]);
});

test("a bare star is told to be put in quotes", () => {
  expect(readYaml("domains: [*]\n").troubles).toEqual([
    {
      code: "YAML_SYNTAX",
      offset: expect.any(Number),
      message: "expected a value, got an alias without a name",
      hint: 'write "*" in quotes: a bare * begins an alias',
    },
  ]);
});
