import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { readBlockYaml } from "./block-yaml.ts";
import { Places } from "./places.ts";
import { readAnyYaml } from "./yaml.ts";

const anyScalar = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(..."ab01 :#-'\"{}[],|>&*!%@`?\\\n\t.~éß") }),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(
    "yes",
    "0x1f",
    "1e3",
    ".5",
    "+1",
    "0o17",
    "null",
    "127.0.0.1",
    "0.25s",
    "12345678901234567890",
    "a: b",
  ),
);
const anyKey = fc.oneof(fc.stringMatching(/^[a-z_@][a-z_0-9.]{0,8}$/), fc.string({ maxLength: 6 }));
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small" }, anyScalar, tie("list"), tie("mapping")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  mapping: fc.dictionary(anyKey, tie("value"), { maxKeys: 4 }),
})).value;

const anyStyle = fc.record({
  indent: fc.integer({ min: 1, max: 4 }),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom("any", "block", "flow"),
  defaultStringType: fc.constantFrom("PLAIN", "QUOTE_SINGLE", "QUOTE_DOUBLE", "BLOCK_LITERAL"),
  lineWidth: fc.constantFrom(0, 20, 80),
} as const);

/** What people do to a file: letters, spaces, lines. */
const anyEdit = fc.record({
  at: fc.nat(),
  remove: fc.integer({ min: 0, max: 3 }),
  insert: fc.oneof(
    fc.constantFrom(" ", "  ", "\n", "- ", ": ", "#", " #x", "---\n", "\r\n", "|\n", "'", '"', "a"),
    fc.string(),
  ),
});

function edited(text: string, edits: readonly { at: number; remove: number; insert: string }[]): string {
  return edits.reduce((before, { at, remove, insert }) => {
    const from = at % (before.length + 1);
    return before.slice(0, from) + insert + before.slice(from + remove);
  }, text);
}

/** How often the quick reader said yes, so that a property about it is about something. */
function compare(text: string): boolean {
  const quick = readBlockYaml(text).documents;
  if (quick === undefined) return false;
  const whole = readAnyYaml(text);
  expect({ text, values: quick.map(({ value }) => value), troubles: [] }).toEqual({
    text,
    values: whole.documents.map(({ value }) => value),
    troubles: whole.troubles,
  });
  return true;
}

const configuration = `# what a file looks like
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster   # a comment
name: c-1
connect_timeout: 0.25s
flags: [a, "b, c", 'it''s', -1, 2.50, { x: 1, "y z": [] }]
country: no
big: 12345678901234567890
hex: 0x1F
empty:
nested:
- a: 1
  b: |
    first
      second

    third
- - deep
  - "tab\\t and \\u00e9"
-
  c: ~
last: http://example.com:80/#fragment
---
# only a comment
---
- 1
`;

describe("the quick reader", () => {
  test("never differs from the complete one where it answers at all", () => {
    let answered = 0;
    const property = fc.property(anyValue, anyStyle, (value, style) => {
      if (compare(stringify(value, style))) answered++;
    });
    fc.assert(property, { numRuns: 700 });
    expect(answered).toBeGreaterThan(70);
  });

  test("never differs on texts that somebody has edited", () => {
    let answered = 0;
    const edits = fc.array(anyEdit, { minLength: 1, maxLength: 4 });
    const property = fc.property(
      fc.dictionary(anyKey, anyValue, { maxKeys: 3 }),
      anyStyle,
      edits,
      (value, style, changes) => {
        if (compare(edited(stringify(value, style), changes))) answered++;
      },
    );
    fc.assert(property, { numRuns: 1200 });
    expect(answered).toBeGreaterThan(50);
  });

  test("never differs on a usual text that somebody has edited", () => {
    let answered = 0;
    const property = fc.property(fc.array(anyEdit, { minLength: 1, maxLength: 3 }), (changes) => {
      if (compare(edited(configuration, changes))) answered++;
    });
    fc.assert(property, { numRuns: 700 });
    expect(answered).toBeGreaterThan(150);
  });

  test("finds keys and values at the same places", () => {
    const property = fc.property(
      fc.dictionary(anyKey, anyValue, { minKeys: 1, maxKeys: 4 }),
      anyStyle,
      (value, style) => {
        const text = stringify(value, style);
        const quickPlaces = new Places();
        const quick = readBlockYaml(text, quickPlaces).documents;
        if (quick === undefined) return;
        const wholePlaces = new Places();
        const [whole] = readAnyYaml(text, wholePlaces).documents;
        for (const path of pathsIn(value)) {
          for (const part of ["key", "value"] as const) {
            const found = quickPlaces.find(quick[0]?.value, quick[0]?.offset ?? -1, path, part);
            const expected = wholePlaces.find(whole?.value, whole?.offset ?? -1, path, part);
            if (valueAt(value, path) !== null)
              expect({ text, path, part, at: found }).toEqual({ text, path, part, at: expected });
          }
        }
      },
    );
    fc.assert(property, { numRuns: 200 });
  });
});

function pathsIn(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [[...path]];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [[...path], ...entries.flatMap(([step, inner]) => pathsIn(inner, [...path, step]))];
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], value);
}

test("reads the usual", () => {
  expect(readBlockYaml(configuration).documents?.map(({ value }) => value)).toEqual([
    {
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      name: "c-1",
      connect_timeout: "0.25s",
      flags: ["a", "b, c", "it's", -1, 2.5, { x: 1, "y z": [] }],
      country: "no",
      big: "12345678901234567890",
      hex: 31,
      empty: null,
      nested: [{ a: 1, b: "first\n  second\n\nthird\n" }, ["deep", "tab\t and é"], { c: null }],
      last: "http://example.com:80/#fragment",
    },
    [1],
  ]);
});

test("reads the same with the line ends of Windows", () => {
  const values = readBlockYaml(configuration.replaceAll("\n", "\r\n")).documents?.map(({ value }) => value);
  expect(values).toEqual(readBlockYaml(configuration).documents?.map(({ value }) => value));
});

test.each([
  ["a tab", "a:\tb\n"],
  ["an anchor", "a: &x b\n"],
  ["an alias", "a: *x\n"],
  ["a tag", "a: !!str b\n"],
  ["a merge key", "<<: {}\n"],
  ["a key twice", "a: 1\na: 2\n"],
  ["a scalar over two lines", "a: b\n  c\n"],
  ["a flow over two lines", "a: [b,\n  c]\n"],
  ["a folded block", "a: >\n  b\n"],
  ["a directive", "%YAML 1.2\n---\na: b\n"],
  ["indentation that does not fit", "a:\n    b: 1\n  c: 2\n"],
  ["a reserved character", "@type: x\n"],
  ["two colons", "a: b: c\n"],
  ["a key that is not a text", "1: a\n"],
  ["the end of a document", "a: 1\n...\n"],
  ["a document that is a scalar", "abc\n"],
])("leaves %s to the complete reader", (_, text) => {
  expect(readBlockYaml(text).documents).toBeUndefined();
});
