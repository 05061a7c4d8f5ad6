import type { Problem } from "./problem.ts";

/**
 * The limit per severity, in one file or between files. Each problem is kept, located and compared, and nobody reads
 * more.
 */
const MOST = 10_000;

/** Limits the number of problems, and counts those beyond. */
export class ProblemBound {
  readonly #counts = { error: 0, warning: 0 };

  /** Whether the limit admits another problem. */
  admits(severity: Problem["severity"]): boolean {
    return ++this.#counts[severity] <= MOST;
  }

  /** One problem for all that were left out, with the severity of the worst; empty if there are none. */
  summary(file: string): readonly Problem[] {
    const errors = Math.max(0, this.#counts.error - MOST);
    const warnings = Math.max(0, this.#counts.warning - MOST);
    if (errors + warnings === 0) return [];
    const message = `${errors} more errors and ${warnings} more warnings are not shown`;
    const severity = errors > 0 ? "error" : "warning";
    return [{ code: "PROBLEMS_CUT", severity, file, message, hint: "correct those that are shown first" }];
  }
}
