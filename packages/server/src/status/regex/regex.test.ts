import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RegexError } from "./part.ts";
import { compileRegex, LONGEST_TEXT, RegexEffort } from "./regex.ts";

const matches = (pattern: string, text: string): boolean => compileRegex(pattern, new RegexEffort())(text);

describe("a text is matched as a whole, as RE2 does", () => {
  test.each<readonly [pattern: string, texts: readonly string[], others: readonly string[]]>([
    ["a", ["a"], ["", "aa", "ab", "b"]],
    ["a|bc|", ["a", "bc", ""], ["b", "abc"]],
    ["(web|DB)-[0-9]+", ["web-1", "DB-42"], ["web-", "db-1", "xweb-1"]],
    ["a*b+c?", ["b", "aabbc"], ["a", "ac"]],
    ["a{2}", ["aa"], ["a", "aaa"]],
    ["a{2,}", ["aa", "aaaa"], ["a"]],
    ["(ab){1,2}?", ["ab", "abab"], ["", "ababab"]],
    ["a{0}b", ["b"], ["ab"]],
    ["a{x", ["a{x"], ["a"]],
    [".", ["x", "😀"], ["", "\n", "xy"]],
    ["(?s).", ["\n"], []],
    ["(?i)Ab(?-i:C)", ["abC", "AbC"], ["abc"]],
    ["(?i:a)b", ["Ab"], ["aB"]],
    ["x(?P<name>y)(?<other>z)", ["xyz"], ["xy"]],
    ["^a$", ["a"], ["a\n"]],
    ["(?m)^a$\n^b$", ["a\nb"], ["ab"]],
    ["\\Aa\\z", ["a"], []],
    ["a\\b.\\Bb", [], ["a-b"]],
    ["a\\b-\\bb", ["a-b"], ["a--"]],
    ["\\d\\D\\w\\W\\s\\S", ["1x_- x"], ["xx_- x"]],
    ["\\pL\\p{Greek}\\PN\\p{^Lu}", ["aβxy"], ["aβ1y", "abxy"]],
    ["\\x41\\x{1F600}\\t\\-\\.", ["A😀\t-."], []],
    ["\\Qa.b*\\Ec", ["a.b*c"], ["axbc"]],
    ["[]a-c-]", ["]", "b", "-"], ["d"]],
    ["[^]a]", ["b", "\n"], ["]", "a"]],
    ["[[:alpha:]_\\d\\-]", ["1", "_", "-", "a"], [".", "["]],
    ["(?i)[a-c]", ["B"], ["d"]],
    ["(a*)*", ["", "aaa"], ["b"]],
    ["(|a){3}", ["", "aa"], ["aaaa"]],
  ])("%s", (pattern, texts, others) => {
    expect([texts.map((text) => matches(pattern, text)), others.map((text) => matches(pattern, text))]).toEqual([
      texts.map(() => true),
      others.map(() => false),
    ]);
  });
});

describe("is refused, with the reason", () => {
  test.each([
    ["", "expected a regular expression, got nothing"],
    ["a)(b", 'expected a regular expression, got "a)(b": there is a ) without its ('],
    ["(a", 'expected a regular expression, got "(a": there is a ( without its )'],
    ["*a", 'expected a regular expression, got "*a": there is nothing that * could repeat'],
    ["a**", 'expected a regular expression, got "a**": there is a repetition of a repetition'],
    ["(a)\\1", 'expected a regular expression, got "(a)\\\\1": \\1 is not known here'],
    ["(?=a)", 'expected a regular expression, got "(?=a)": looking ahead or behind is not known here'],
    ["(?<!a)b", 'expected a regular expression, got "(?<!a)b": looking ahead or behind is not known here'],
    ["[b-a]", 'expected a regular expression, got "[b-a]": expected a class of characters'],
    ["[a", 'expected a regular expression, got "[a": expected a ] that ends the class, got the end'],
    ["[[:no:]]", 'expected a regular expression, got "[[:no:]]": there are no characters [:no:]'],
    [
      "\\p{No}{2}\\p{Nope}",
      'expected a regular expression, got "\\\\p{No}{2}\\\\p{Nope}": there are no characters "Nope"',
    ],
    ["a{2,1}", 'expected a regular expression, got "a{2,1}": expected a repetition of 1000 at most, got {2,1}'],
    ["a{1001}", 'expected a regular expression, got "a{1001}": expected a repetition of 1000 at most, got {1001}'],
    ["a\\", 'expected a regular expression, got "a\\\\": expected something after \\, got the end'],
    ["a".repeat(1_001), "expected a regular expression of 1000 characters at most, got 1001"],
    ["((a{100}){100}){100}", "the regular expressions are too large"],
    ["((){1000}){1000}", "the regular expressions are too large"],
  ])("%s", (pattern, message) => {
    expect(() => matches(pattern, "a")).toThrow(new RegexError(message));
  });

  test("what is too large together", () => {
    const effort = new RegexEffort();
    expect(() => {
      for (let i = 0; i < 100; i++) compileRegex("a{100}", effort);
    }).toThrow(new RegexError("the regular expressions are too large"));
  });
});

describe("costs no more than the length of the text times that of the expression", () => {
  test.each([
    "(a+)+z",
    "(a|a)*z",
    "(a*)*z",
    `${"a?".repeat(100)}a{100}`,
    "(.*)(.*)(.*)(.*)z",
    "(a|aa)+z",
    "(?i)(a{1,50}){1,20}z",
  ])("%s", (pattern) => {
    const effort = new RegexEffort();
    const regex = compileRegex(pattern, effort);
    const cost = (length: number): number => {
      effort.beginNode();
      expect(regex("a".repeat(length))).toBe(pattern.endsWith("a{100}") && length <= 200);
      return effort.visits;
    };
    const [once, twice] = [cost(1_000), cost(2_000)];
    expect(twice).toBeLessThanOrEqual(2 * once + 2_000);
  });

  test("and not more than a node's share, however many there are", () => {
    const effort = new RegexEffort();
    const regex = compileRegex("(a+)+z", effort);
    const text = `${"a".repeat(LONGEST_TEXT - 1)}z`;
    const found = (): number => {
      effort.beginNode();
      return Array.from({ length: 1_000 }, () => regex(text)).filter(Boolean).length;
    };
    expect(regex(text)).toBe(true);
    const inShare = found();
    expect(inShare).toBeGreaterThan(10);
    expect(inShare).toBeLessThan(1_000);
    // The next node has its own.
    expect(found()).toBe(inShare);
  });

  test("of a text that is too long nothing is looked at", () => {
    const effort = new RegexEffort();
    expect([compileRegex("a*", effort)("a".repeat(LONGEST_TEXT + 1)), effort.visits]).toEqual([false, 0]);
  });
});

test("what the platform's own engine says of expressions that both have", () => {
  const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
    atom: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\b", "^", "$", "()"),
      tie("pattern").map((inner) => `(${inner})`),
    ),
    pattern: fc
      .array(fc.tuple(tie("atom"), fc.constantFrom("", "", "*", "+", "?", "{2}", "{0,2}", "|")), { maxLength: 5 })
      .map((pieces) =>
        pieces.map(([atom, times]) => (/[\\^$]/.test(atom[0] ?? "") && times !== "|" ? atom : atom + times)).join(""),
      ),
  }));
  fc.assert(
    fc.property(
      pattern.filter((text) => text !== ""),
      fc.string({ unit: fc.constantFrom("a", "b", "c", "-"), maxLength: 6 }),
      (text, input) => {
        expect([text, input, matches(text, input)]).toEqual([
          text,
          input,
          new RegExp(`^(?:${text})$`, "u").test(input),
        ]);
      },
    ),
    { numRuns: 2_000 },
  );
});
