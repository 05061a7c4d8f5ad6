/** The state of the source of resources. */
export interface SourceStatus {
  readonly state: "loading" | "good" | "failed";
  readonly problems: readonly SourceProblem[];
  /** When this state began. */
  readonly since: Date;
  /** When its loads began to fail, if the newest one did. */
  readonly failedSince?: Date;
}

/** A problem in the operator's input, as the admin API shows it; `Problem` of `@xdskit/source` is one. */
export interface SourceProblem {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The line in question; never of a secret. */
  readonly excerpt?: string;
  readonly path?: string;
  readonly message: string;
  readonly hint?: string;
  /** The other place of a duplicate. */
  readonly related?: { readonly file: string; readonly line?: number; readonly column?: number };
  /** How many problems it stands for, if it is that a limit left some out. */
  readonly omitted?: { readonly errors: number; readonly warnings: number };
}
