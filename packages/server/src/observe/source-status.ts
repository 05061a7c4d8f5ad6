/** How the source of the resources stands. */
export interface SourceStatus {
  readonly state: "loading" | "good" | "failed";
  readonly problems: readonly SourceProblem[];
  /** Since when the source is in this state. */
  readonly since: Date;
}

/** Something wrong in what the operator gave, as the admin API tells it; `Problem` of `@xdskit/source` is one. */
export interface SourceProblem {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The line itself; never of a secret. */
  readonly excerpt?: string;
  readonly path?: string;
  readonly message: string;
  readonly hint?: string;
  /** The other place of a duplicate. */
  readonly related?: { readonly file: string; readonly line?: number; readonly column?: number };
}
