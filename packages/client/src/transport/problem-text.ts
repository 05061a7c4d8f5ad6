import type { FieldProblem, TextProblem } from "@xdskit/envoy-api";

/** The most mistakes to list; more are usually echoes of the first. */
const MAX_TOLD = 10;

/** The problems of a response in one line, each with its place; undefined if there are only warnings. */
export function describeProblems(problems: readonly (FieldProblem | TextProblem)[]): string | undefined {
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return undefined;
  const told = errors.slice(0, MAX_TOLD).map((problem) => `${placeOf(problem)}${problem.message}`);
  const more = errors.length > MAX_TOLD ? `; and ${errors.length - MAX_TOLD} more` : "";
  return `${told.join("; ")}${more}`;
}

function placeOf(problem: FieldProblem | TextProblem): string {
  if ("path" in problem) {
    const path = problem.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
    return path === "" ? "" : `${path.replace(/^\./, "")}: `;
  }
  return problem.line === undefined ? "" : `line ${problem.line}, column ${problem.column ?? 1}: `;
}
