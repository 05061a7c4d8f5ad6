import { createEnvoyApi } from "@xdskit/envoy-api";
import { expect, test } from "vitest";
import { KnownResources } from "./candidate-reader.ts";
import { decodeFile } from "./decode.ts";
import { hasErrors } from "./problem.ts";
import { ProblemBound } from "./problem-bound.ts";

const cut = (errors: number, warnings: number, severity: "error" | "warning"): unknown => ({
  code: "PROBLEMS_CUT",
  severity,
  file: "f.yaml",
  message: `${errors} more errors and ${warnings} more warnings are not shown`,
  hint: "correct those that are shown first",
});

test("ten thousand of each severity are told, and how many there are beside them", () => {
  const bound = new ProblemBound();
  const admitted = (severity: "error" | "warning", count: number): number =>
    Array.from({ length: count }, () => bound.admits(severity)).filter(Boolean).length;
  expect([admitted("warning", 10_000), bound.summary("f.yaml")]).toEqual([10_000, []]);
  expect([admitted("warning", 3), bound.summary("f.yaml")]).toEqual([0, [cut(0, 3, "warning")]]);
  expect([admitted("error", 10_001), bound.summary("f.yaml")]).toEqual([10_000, [cut(1, 3, "error")]]);
});

test("a file with more errors than are told still has an error", async () => {
  const bytes = new TextEncoder().encode("- {}\n".repeat(10_005));
  const decoding = { api: createEnvoyApi(), validation: "warn" } as const;
  const { problems } = await decodeFile({ file: "f.yaml", format: "yaml", bytes }, decoding, new KnownResources());
  expect([problems.length, problems.at(-1), hasErrors(problems)]).toEqual([10_001, cut(5, 0, "error"), true]);
});
