/** Keys and indices, from the outside in. */
export type Path = readonly (string | number)[];

/** A mistake, before it is known on which line it stands. */
export interface PlacedProblem {
  readonly severity: "error" | "warning";
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
}

/** Gathers all mistakes of a configuration, so that they are told at once. */
export class Problems {
  readonly #all: PlacedProblem[] = [];
  readonly #unread: string[] = [];

  /** It cannot be used as it is. */
  error(path: Path, message: string, hint?: string): void {
    this.#addNew({ severity: "error", path, message, ...(hint !== undefined && { hint }) });
  }

  /** It can be used, but is hardly what was meant. */
  warning(path: Path, message: string, hint?: string): void {
    this.#addNew({ severity: "warning", path, message, ...(hint !== undefined && { hint }) });
  }

  /** What stands there could not be read, and was left out: what is missing there afterwards is no second mistake. */
  unread(problem: PlacedProblem): void {
    this.#all.push(problem);
    this.#unread.push(keyOf(problem.path));
  }

  /** Takes over what was found elsewhere; as warnings where it does not keep anything from being used. */
  takeOver(others: Problems, severity?: "warning"): void {
    for (const problem of others.#all) this.#addOnce(severity === undefined ? problem : { ...problem, severity });
    this.#unread.push(...others.#unread);
  }

  get hasErrors(): boolean {
    return this.#all.some(({ severity }) => severity === "error");
  }

  /** What is only odd is not told of where something is wrong as well. */
  get all(): readonly PlacedProblem[] {
    const wrong = new Set(this.#all.filter(({ severity }) => severity === "error").map(({ path }) => keyOf(path)));
    return this.#all.filter(({ severity, path }) => severity === "error" || !wrong.has(keyOf(path)));
  }

  #addNew(problem: PlacedProblem): void {
    const key = keyOf(problem.path);
    if (!this.#unread.some((unread) => unread.startsWith(key) || key.startsWith(unread))) this.#addOnce(problem);
  }

  /** A server that many sources name is wrong once. */
  #addOnce(problem: PlacedProblem): void {
    const isSame = (other: PlacedProblem): boolean =>
      other.message === problem.message && keyOf(other.path) === keyOf(problem.path);
    if (!this.#all.some(isSame)) this.#all.push(problem);
  }
}

/** `connectTimeout` and `connect_timeout` are one field. */
function keyOf(path: Path): string {
  return path.map((segment) => `${String(segment).toLowerCase().replaceAll("_", "")}/`).join("");
}
