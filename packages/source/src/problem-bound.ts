import type { Problem } from "./problem.ts";

/** Of each severity, in one file or between files. Nobody reads more, and each is kept, placed and compared. */
const MOST = 10_000;

/** Lets so many problems through, and says how many there were beyond. */
export class ProblemBound {
  readonly #counts = { error: 0, warning: 0 };

  /** Whether it is one of those that are told. */
  admits(severity: Problem["severity"]): boolean {
    return ++this.#counts[severity] <= MOST;
  }

  /** What stands for the others, as severe as the worst of them; nothing if there are none. */
  summary(file: string): readonly Problem[] {
    const errors = Math.max(0, this.#counts.error - MOST);
    const warnings = Math.max(0, this.#counts.warning - MOST);
    if (errors + warnings === 0) return [];
    const message = `${errors} more errors and ${warnings} more warnings are not told`;
    const severity = errors > 0 ? "error" : "warning";
    return [{ code: "PROBLEMS_CUT", severity, file, message, hint: "mend those that are told first" }];
  }
}
