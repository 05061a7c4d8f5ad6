import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { serverCases } from "../src/cases/server/cases.ts";
import { coverageOf, idsOf, isMissing } from "../src/requirement/coverage.ts";
import { renderPage } from "../src/requirement/page.ts";
import { proofs } from "../src/requirement/proofs.ts";
import { requirements } from "../src/requirement/requirements.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const coverage = coverageOf(requirements, serverCases, proofs);

describe("the requirements", () => {
  test("are all proved, but for those whose time has not come", () => {
    expect(coverage.filter(isMissing).map(({ id }) => id)).toEqual([]);
  });

  test("have no id twice", () => {
    const ids = coverage.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  test("that wait for later have no proof yet", () => {
    const early = coverage.filter(
      ({ later, cases, proofs: tests }) => later !== undefined && cases.length + tests.length > 0,
    );
    expect(early.map(({ id }) => id)).toEqual([]);
  });

  test("stand on the reference page as they are here", () => {
    expect(readFileSync(`${root}docs/spec/requirements.md`, "utf8")).toBe(renderPage(requirements));
  });
});

describe("the cases", () => {
  test("prove nothing that is not listed", () => {
    const known = new Set(coverage.map(({ id }) => id));
    const unknown = serverCases.flatMap(idsOf).filter((id) => !known.has(id));
    expect(unknown).toEqual([]);
  });

  test("all wait for something that the server does", () => {
    const idle = serverCases.filter(({ steps }) =>
      steps.every(
        ({ sends = [], ends = {}, reports = [] }) => sends.length + Object.keys(ends).length + reports.length === 0,
      ),
    );
    expect(idle.map(({ id }) => id)).toEqual([]);
  });
});

describe("the proofs elsewhere", () => {
  test.for(proofs)("$id: $name", ({ test: file, name }) => {
    expect(readFileSync(root + file, "utf8")).toContain(`test("${name}"`);
  });
});
