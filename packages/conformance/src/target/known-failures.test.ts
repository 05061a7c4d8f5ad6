import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { serverCases } from "../cases/server/cases.ts";
import type { Verdict } from "../play/play.ts";
import { playsOf } from "../play/plays.ts";
import { compareWithKnown, parseKnownFailures } from "./known-failures.ts";

describe("a list of known failures", () => {
  test("has a case, a reason and a place on each line", () => {
    const known = parseKnownFailures("# why\n\nS-A-01 sotw ads | it loops | issue 1\n");
    expect([...known]).toEqual([["S-A-01 sotw ads", { reason: "it loops", place: "issue 1", isRacy: false }]]);
  });

  test.for(["S-A-01 | no place", "S-A-01 | | issue 1", "no bars"])("does not take %j", (line) => {
    expect(() => parseKnownFailures(line)).toThrow(/expected "key \| reason \| place"/);
  });

  test("names a case once", () => {
    expect(() => parseKnownFailures("a | b | c\na | d | e")).toThrow(/listed twice/);
  });
});

const passed: Verdict = { passed: true };
const failed: Verdict = { passed: false, step: 1, expected: "a", actual: "b" };
const notPlayed: Verdict = { passed: false, step: 1, notPlayed: "it has no such switch" };

test("a listed case that passes or is not played is as bad as one that fails unlisted", () => {
  const known = { reason: "it loops", place: "issue 1", isRacy: false };
  expect(compareWithKnown(passed, "must", undefined)).toBe("passes");
  expect(compareWithKnown(failed, "must", known)).toBe("fails as known");
  expect(compareWithKnown(failed, "must", undefined)).toBe("FAILS");
  expect(compareWithKnown(passed, "must", known)).toBe("PASSES UNEXPECTED");
  expect(compareWithKnown(notPlayed, "must", undefined)).toBe("not played");
  expect(compareWithKnown(notPlayed, "must", known)).toBe("LISTED, NOT PLAYED");
});

test("who does otherwise than what is no must fails nothing", () => {
  const levels = ["should", "may", "own"] as const;
  expect(levels.map((level) => compareWithKnown(failed, level, undefined))).toEqual(["differs", "differs", "differs"]);
});

test("a listed case that a race decides may do both", () => {
  const [racy] = parseKnownFailures("a | at times: it loops | issue 1").values();
  expect([compareWithKnown(passed, "must", racy), compareWithKnown(failed, "must", racy)]).toEqual([
    "passes",
    "fails as known",
  ]);
});

test("go-control-plane's list names only cases that there are", () => {
  const list = readFileSync(new URL("../../known-failures/go-control-plane.txt", import.meta.url), "utf8");
  const keys = new Set(playsOf(serverCases).map(({ key }) => key));
  expect([...parseKnownFailures(list).keys()].filter((key) => !keys.has(key))).toEqual([]);
});
