import type { BaseProblem, ValuePath } from "@xdskit/protocol/internal";

/** A problem whose line is not known yet. */
export interface PlacedProblem extends BaseProblem {
  readonly path: ValuePath;
}

/** Collects the problems of a configuration, to report all at once. */
export class Problems {
  readonly #all: PlacedProblem[] = [];
  readonly #unread: string[] = [];

  /** Reports a mistake that makes the configuration unusable. */
  error(path: ValuePath, message: string, hint?: string): void {
    this.#addNew({ severity: "error", path, message, ...(hint !== undefined && { hint }) });
  }

  /** Reports a likely mistake in a usable configuration. */
  warning(path: ValuePath, message: string, hint?: string): void {
    this.#addNew({ severity: "warning", path, message, ...(hint !== undefined && { hint }) });
  }

  /** Reports a value that cannot be read and is left out; its absence is not reported again. */
  unread(problem: PlacedProblem): void {
    this.#all.push(problem);
    this.#unread.push(keyOf(problem.path));
  }

  /** Adds the problems found elsewhere; with `severity`, as warnings. */
  takeOver(others: Problems, severity?: "warning"): void {
    for (const problem of others.#all) this.#addOnce(severity === undefined ? problem : { ...problem, severity });
    this.#unread.push(...others.#unread);
  }

  get hasErrors(): boolean {
    return this.#all.some(({ severity }) => severity === "error");
  }

  /** All problems, without warnings at a path that also has an error. */
  get all(): readonly PlacedProblem[] {
    const wrong = new Set(this.#all.filter(({ severity }) => severity === "error").map(({ path }) => keyOf(path)));
    return this.#all.filter(({ severity, path }) => severity === "error" || !wrong.has(keyOf(path)));
  }

  #addNew(problem: PlacedProblem): void {
    const key = keyOf(problem.path);
    if (!this.#unread.some((unread) => unread.startsWith(key) || key.startsWith(unread))) this.#addOnce(problem);
  }

  /** A server that several sources name is reported once. */
  #addOnce(problem: PlacedProblem): void {
    const isSame = (other: PlacedProblem): boolean =>
      other.message === problem.message && keyOf(other.path) === keyOf(problem.path);
    if (!this.#all.some(isSame)) this.#all.push(problem);
  }
}

/** `connectTimeout` and `connect_timeout` are the same field. */
function keyOf(path: ValuePath): string {
  return path.map((segment) => `${String(segment).toLowerCase().replaceAll("_", "")}/`).join("");
}
