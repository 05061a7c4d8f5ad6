import type { OptionProblem } from "./problem.ts";

/** A problem in one line: where it is, what is wrong, and how to fix it. */
export function describeProblem({ path, message, hint }: OptionProblem): string {
  const text = path === "" ? message : `${path}: ${message}`;
  return hint === undefined ? text : `${text} (${hint})`;
}

/** All problems in one line. */
export function describeProblems(about: string, problems: readonly OptionProblem[]): string {
  return `${about}: ${problems.map(describeProblem).join("; ")}`;
}
