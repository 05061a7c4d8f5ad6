import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalName,
  canonicalNames,
  formatResourceName,
  globOf,
  isGlob,
  isPrefixGlob,
  isUnderPrefix,
  isWithin,
  nameOfTerm,
  parseResourceName,
  termsOf,
} from "./resource-name.ts";

describe("an xdstp name", () => {
  test("is read in its parts, decoded, without directives", () => {
    expect(parseResourceName("xdstp://auth%20x/acme.Thing/a%2Fb/c?k%26=v%3D&j=#entry=e,alt=xdstp://b/T/c")).toEqual({
      authority: "auth x",
      type: "acme.Thing",
      id: ["a/b", "c"],
      isGlob: false,
      contextParams: new Map([
        ["k&", "v="],
        ["j", ""],
      ]),
    });
  });

  test.each([
    ["xdstp://a/T/foo?b=2&a=1", "xdstp://a/T/foo?a=1&b=2"],
    ["xdstp://a/T/foo#alt=xdstp://b/T/foo", "xdstp://a/T/foo"],
    ["xdstp:///T/foo", "xdstp:///T/foo"],
    ["xdstp://a/T", "xdstp://a/T"],
    ["xdstp://a/T/", "xdstp://a/T/"],
    ["xdstp://a/T/%66oo/b%61r", "xdstp://a/T/foo/bar"],
    ["xdstp://a/T/a%2fb%3a", "xdstp://a/T/a%2Fb:"],
    ["xdstp://a/T/ä b", "xdstp://a/T/%C3%A4%20b"],
    ["xdstp://a/T/%2A", "xdstp://a/T/%2A"],
    ["xdstp://a/T/dir/*?y=2&x=1", "xdstp://a/T/dir/*?x=1&y=2"],
    ["xdstp://a/T/f?x=%2f%3D%26", "xdstp://a/T/f?x=/%3D%26"],
    ["xdstp://a/T/f?flag", "xdstp://a/T/f?flag="],
    ["xdstp://a/T/f?", "xdstp://a/T/f"],
  ])("%s is written %s", (text, canonical) => {
    expect(canonicalName(text)).toBe(canonical);
    expect(canonicalName(canonical)).toBe(canonical);
  });

  test.each(["xdstp://a", "xdstp:a/T/b", "xdstp://a/T/%zz", "xdstp://a/T/%ff", "xdstp://a/T/b?x=1&x=2", "plain/*", ""])(
    "%s is none, and its own text",
    (text) => {
      expect(parseResourceName(text)).toBeUndefined();
      expect(canonicalName(text)).toBe(text);
    },
  );

  test("is the same in a list, and a list without any is the same list", () => {
    expect(canonicalNames(["a", "xdstp://a/T/f?b=2&a=1"])).toEqual(["a", "xdstp://a/T/f?a=1&b=2"]);
    const plain = ["a", "b/*"];
    expect(canonicalNames(plain)).toBe(plain);
  });

  test("prints what it was read from", () => {
    const name = parseResourceName("xdstp://a/T/x/*?k=v");
    expect(name && formatResourceName(name)).toBe("xdstp://a/T/x/*?k=v");
  });
});

describe("a glob collection", () => {
  test.each([
    ["xdstp://a/T/dir/one?x=1", "xdstp://a/T/dir/*?x=1"],
    ["xdstp://a/T/one", "xdstp://a/T/*"],
    ["xdstp://a/T/dir/sub/one", "xdstp://a/T/dir/sub/*"],
    ["xdstp:///T/one", "xdstp:///T/*"],
    ["xdstp://a/T/%2A", "xdstp://a/T/*"],
    ["xdstp://a/T/dir/*?x=1", undefined],
    ["xdstp://a/T", undefined],
    ["dir/one", undefined],
  ])("%s is a member of %s", (name, glob) => {
    expect(globOf(name)).toBe(glob);
  });

  test("is told by its star", () => {
    expect(
      ["xdstp://a/T/*", "xdstp://a/T/d/*?x=/y", "xdstp://a/T/d/e*", "*", "a/*", "xdstp://a/T/d?x=/*"].map(isGlob),
    ).toEqual([true, true, false, false, false, false]);
  });
});

describe("S-XTP-13 prefixes of names that are no xdstp names", () => {
  test("are terms where that is switched on, and names elsewhere", () => {
    const names = ["foo/*", "foo", "*", "foo/*/x", "xdstp://a/T/b/*"];
    expect(termsOf(names, false)).toEqual(names);
    const terms = termsOf(names, true);
    expect(terms.map(isPrefixGlob)).toEqual([true, false, false, false, false]);
    expect(terms.map(isGlob)).toEqual([true, false, false, false, true]);
    expect(terms.map(nameOfTerm)).toEqual(names);
    expect(isGlob("foo/*")).toBe(false);
  });

  test("stand for what begins with them, and are found by what they stand for", () => {
    const path = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 6 });
    fc.assert(
      fc.property(path, path, (prefix, name) => {
        const [term = ""] = termsOf([`${prefix}/*`], true);
        expect(isWithin(term, name)).toBe(name.startsWith(`${prefix}/`));
        expect(isUnderPrefix(new Set([term]), name)).toBe(isWithin(term, name));
      }),
    );
    expect(isUnderPrefix(new Set(termsOf(["xdstp:/a/*"], true)), "xdstp://a/T/b")).toBe(false);
  });
});
