import type { OptionProblem } from "./problem.ts";

/** A problem in one line: where it is, what is wrong, and how to fix it. */
export function describeProblem({ path, message, hint }: OptionProblem): string {
  const text = path === "" ? message : `${path}: ${message}`;
  return hint === undefined ? text : `${text} (${hint})`;
}

/** More would hide the first ones, and fill the logs of the program. */
const MOST_DESCRIBED = 10;

/** The first problems in one line, and how many more there are. */
export function describeProblems(about: string, problems: readonly OptionProblem[]): string {
  const described = problems.slice(0, MOST_DESCRIBED).map(describeProblem);
  const more = problems.length - described.length;
  if (more > 0) described.push(`and ${more.toLocaleString("en-US")} more, see \`problems\``);
  return `${about}: ${described.join("; ")}`;
}
