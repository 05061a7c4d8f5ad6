import type { Problem } from "./problem.ts";

/** The limit of one file, per severity. Each problem is kept, placed and compared, and nobody reads more. */
export const mostInFile = 1_000;
/** The limit of a load, per severity. */
export const mostInLoad = 10_000;

/** How many problems there are of each severity. */
export interface ProblemCounts {
  readonly errors: number;
  readonly warnings: number;
}

/** Counts problems, with those that a limit left out. */
export function problemCounts(problems: readonly Pick<Problem, "severity" | "omitted">[]): ProblemCounts {
  let errors = 0;
  let warnings = 0;
  for (const { severity, omitted } of problems) {
    errors += omitted?.errors ?? (severity === "error" ? 1 : 0);
    warnings += omitted?.warnings ?? (severity === "warning" ? 1 : 0);
  }
  return { errors, warnings };
}

/** What decides whether a problem counts and is told, without its place. */
export type ProblemKind = Pick<Problem, "code" | "severity" | "omitted" | "path">;

/** Problems, and how many they are, so that those beyond a limit need not be looked at. */
export interface CountedProblems {
  /** Found when they are asked for first. */
  readonly problems: readonly Problem[];
  readonly has: Readonly<Record<Problem["severity"], boolean>>;
  readonly counts: ProblemCounts;
}

/** Counts problems by their kinds; `problemsOf` is called if they are told. */
export function countProblems(
  kinds: readonly Pick<ProblemKind, "severity" | "omitted">[],
  problemsOf: () => readonly Problem[],
): CountedProblems {
  const has = { error: false, warning: false };
  for (const { severity } of kinds) has[severity] = true;
  let problems: readonly Problem[] | undefined;
  return {
    has,
    counts: problemCounts(kinds),
    get problems() {
      problems ??= problemsOf();
      return problems;
    },
  };
}

/** Limits the number of problems, and counts those beyond. */
export class ProblemBound {
  readonly #most: number;
  readonly #admitted: Record<Problem["severity"], number> = { error: 0, warning: 0 };
  #errors = 0;
  #warnings = 0;

  /** The limit holds for each severity. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether the limit admits another problem. */
  admits(problem: Pick<Problem, "severity" | "omitted">): boolean {
    if (++this.#admitted[problem.severity] <= this.#most) return true;
    this.#leaveOut(problemCounts([problem]));
    return false;
  }

  /** The problems that the limit admits. */
  admitted(counted: CountedProblems): readonly Problem[] {
    if (this.#mayAdmit(counted.has)) return counted.problems.filter((problem) => this.admits(problem));
    this.#leaveOut(counted.counts);
    return [];
  }

  #mayAdmit(has: CountedProblems["has"]): boolean {
    return (["error", "warning"] as const).some((severity) => has[severity] && this.#admitted[severity] < this.#most);
  }

  #leaveOut({ errors, warnings }: ProblemCounts): void {
    this.#errors += errors;
    this.#warnings += warnings;
  }

  /** One problem for all that were left out, with the severity of the worst; empty if there are none. */
  summary(file: string): readonly Problem[] {
    const omitted = { errors: this.#errors, warnings: this.#warnings };
    const parts = Object.entries(omitted).filter(([, count]) => count > 0);
    if (parts.length === 0) return [];
    const message = `and ${parts.map(([kind, count]) => `${count.toLocaleString("en")} more ${kind}`).join(" and ")}`;
    const severity = omitted.errors > 0 ? "error" : "warning";
    return [{ code: "PROBLEMS_CUT", severity, file, message, hint: "correct those that are shown first", omitted }];
  }
}
