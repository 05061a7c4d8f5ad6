import type { Problem } from "@xdskit/source/checks";

/** A problem in the operator's input, as the admin API shows it. */
export type SourceProblem = Problem;

/** The state of the source of resources. */
export interface SourceStatus {
  readonly state: "loading" | "good" | "failed";
  readonly problems: readonly SourceProblem[];
  /** When this state began. */
  readonly since: Date;
  /** When its loads began to fail, if the newest one did. */
  readonly failedSince?: Date;
}
