import { createEnvoyApi } from "@xdskit/envoy-api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { KnownResources } from "./candidate-reader.ts";
import { decodeFile } from "./decode.ts";
import { hasErrors, type Problem } from "./problem.ts";
import { countProblems, ProblemBound, problemCounts } from "./problem-bound.ts";

const cut = (errors: number, warnings: number, severity: "error" | "warning", message: string): unknown => ({
  code: "PROBLEMS_CUT",
  severity,
  file: "f.yaml",
  message,
  hint: "correct those that are shown first",
  omitted: { errors, warnings },
});

test("as many as the limit of each severity are told, and how many there are beside them", () => {
  const bound = new ProblemBound(100);
  const admitted = (severity: "error" | "warning", count: number): number =>
    Array.from({ length: count }, () => bound.admits({ severity })).filter(Boolean).length;
  expect([admitted("warning", 100), bound.summary("f.yaml")]).toEqual([100, []]);
  expect([admitted("warning", 3), bound.summary("f.yaml")]).toEqual([0, [cut(0, 3, "warning", "and 3 more warnings")]]);
  expect([admitted("error", 1_334), bound.summary("f.yaml")]).toEqual([
    100,
    [cut(1_234, 3, "error", "and 1,234 more errors and 3 more warnings")],
  ]);
});

test("what one limit leaves out is counted by the next", () => {
  const bound = new ProblemBound(1);
  const omitted = { errors: 5, warnings: 7 };
  expect([bound.admits({ severity: "error" }), bound.admits({ severity: "error", omitted })]).toEqual([true, false]);
  expect(bound.summary("f.yaml")).toEqual([cut(5, 7, "error", "and 5 more errors and 7 more warnings")]);
  expect(problemCounts([{ severity: "error" }, { severity: "error", omitted }])).toEqual({ errors: 6, warnings: 7 });
});

test("a file with more errors than are told still has an error", async () => {
  const bytes = new TextEncoder().encode("- {}\n".repeat(1_005));
  const decoding = { api: createEnvoyApi(), validation: "warn" } as const;
  const { problems } = await decodeFile({ file: "f.yaml", format: "yaml", bytes }, decoding, new KnownResources());
  expect([problems.length, problems.at(-1), hasErrors(problems)]).toEqual([
    1_001,
    cut(5, 0, "error", "and 5 more errors"),
    true,
  ]);
});

test("many problems at once are admitted as they are one by one", () => {
  const problem = fc.record({
    severity: fc.constantFrom("error" as const, "warning" as const),
    omitted: fc.option(fc.record({ errors: fc.nat({ max: 3 }), warnings: fc.nat({ max: 3 }) }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(fc.array(problem, { maxLength: 5 })), (groups) => {
      const [atOnce, oneByOne] = [new ProblemBound(4), new ProblemBound(4)];
      const given = groups.map((group) =>
        group.map(({ severity, omitted }): Problem => {
          return { ...{ code: "X", severity, file: "f.yaml", message: "" }, ...(omitted && { omitted }) };
        }),
      );
      const admitted = given.flatMap((group) => atOnce.admitted(countProblems(group, () => group)));
      expect(admitted).toEqual(given.flat().filter((one) => oneByOne.admits(one)));
      expect(atOnce.summary("f.yaml")).toEqual(oneByOne.summary("f.yaml"));
    }),
  );
});
