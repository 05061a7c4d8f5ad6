import { describe, expect, test } from "vitest";
import { formatVirtualHostName, parseVirtualHostName, virtualHostTerms } from "./virtual-host-name.ts";

describe("the name of a virtual host", () => {
  test("is split at the last slash (B-VHD-01)", () => {
    expect(parseVirtualHostName("a/b/foo.com")).toEqual({ routes: "a/b", host: "foo.com" });
    expect(parseVirtualHostName("rc/")).toEqual({ routes: "rc", host: "" });
    expect(parseVirtualHostName("rc")).toBeUndefined();
  });

  test("is written with the host in lower case", () => {
    expect(formatVirtualHostName({ routes: "Rc", host: "*.Foo.com" })).toBe("Rc/*.foo.com");
  });

  test("belongs to the collection of its route configuration", () => {
    expect(["a/b/foo.com", "a/b/", "a"].map((name) => virtualHostTerms.collectionOf(name))).toEqual([
      "a/b/",
      "a/b/",
      undefined,
    ]);
  });
});

describe("an asked host", () => {
  test("falls under longer suffixes, longer prefixes, and the star, in this order", () => {
    expect([...virtualHostTerms.broader("rc/a.bc")]).toEqual([
      "rc/*.bc",
      "rc/*bc",
      "rc/*c",
      "rc/a.b*",
      "rc/a.*",
      "rc/a*",
      "rc/*",
    ]);
  });

  test.each(["rc", "rc/"])("is none in %s", (term) => {
    expect([...virtualHostTerms.broader(term)]).toEqual([]);
  });

  test.each([
    ["rc/*.b.c", "rc/a.b.c", true],
    ["rc/*.b.c", "rc/.b.c", false],
    ["rc/*.b.c", "other/a.b.c", false],
    ["rc/a.*", "rc/a.b", true],
    ["rc/a.*", "rc/a.", false],
    ["rc/*", "rc/a", true],
    ["rc/*", "rc/", false],
    ["rc/a", "rc/a", false],
    ["rc", "rc/a", false],
  ])("%s and %s match: %s", (alias, term, isMatch) => {
    expect(virtualHostTerms.matches(alias, term)).toBe(isMatch);
    expect([...virtualHostTerms.broader(term)].includes(alias)).toBe(isMatch);
  });

  test("may be many only for what has a star at one end", () => {
    expect(["rc/*", "rc/*.a", "rc/a.*", "rc/a", "*/a", "*"].map((alias) => virtualHostTerms.isBroad(alias))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
