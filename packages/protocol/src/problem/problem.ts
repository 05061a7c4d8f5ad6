/** What is wrong, and how to fix it. Every problem has this shape: in files, resources, options and access rules. */
export interface BaseProblem {
  /** An error keeps the input from taking effect. */
  readonly severity: "error" | "warning";
  /** "expected X, got Y", without a full stop; never contains a secret. */
  readonly message: string;
  /** How to fix it, such as the likely spelling. */
  readonly hint?: string;
}

/** Keys and indices from the root of a value to a part of it. */
export type ValuePath = readonly (string | number)[];

/** A problem in an argument or option of the program. */
export interface OptionProblem extends BaseProblem {
  /** Path of the mistake, such as `limits.maxStreams`; "" is the value itself. */
  readonly path: string;
}
