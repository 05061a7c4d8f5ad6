import type { TypeUrl } from "@xdskit/protocol";
import { describeProblems, type OptionProblem } from "@xdskit/protocol/internal";

/** The codes of `XdsError`. */
export type XdsErrorCode =
  /** `problems` names every mistake in the options, or in the arguments of a method. */
  | "OPTIONS_INVALID"
  /** The server cannot listen on the address; `cause` says why. */
  | "LISTEN_FAILED"
  /** A certificate, key or CA file cannot be read, or they do not match; `cause` says why. */
  | "TLS_INVALID"
  /** The server cannot write to a directory, or another process writes to it; `cause` says why. */
  | "FILES_FAILED"
  /** The store of `ledger` cannot be read; `cause` says why. */
  | "STORE_FAILED"
  /** The argument of `commit` is not a transaction; `problems` names every mistake. Nothing changed. */
  | "TRANSACTION_INVALID"
  /** Resources passed to `set` or `update` are invalid; `problems` names every mistake. Nothing changed. */
  | "RESOURCES_INVALID"
  /**
   * A transaction would give a name two variants that match the same client; `problems` names each. Nothing changed.
   */
  | "VARIANTS_AMBIGUOUS"
  /** `whenDeployed` was asked for a revision that does not exist yet. */
  | "REVISION_UNKNOWN"
  /** A worker process cannot start. */
  | "WORKER_FAILED"
  /** The server was started twice, or used after it was closed; or an update was changed after it was made. */
  | "SERVER_STATE";

/** A problem of a resource that the program passed in. */
export interface ResourceProblem extends OptionProblem {
  /** Listed in the reference of problems. */
  readonly code: string;
  readonly layer: string;
  /** Absent where it cannot be read. */
  readonly type?: TypeUrl;
  /** Absent where it cannot be read. */
  readonly name?: string;
  /** The other resource of a problem between two. */
  readonly related?: { readonly layer: string; readonly type: TypeUrl; readonly name: string };
}

/** The only class of errors that this package throws on purpose. Branch on `code`; messages are for people. */
export class XdsError extends Error {
  override readonly name = "XdsError";
  readonly code: XdsErrorCode;
  /** Every mistake; the problems of RESOURCES_INVALID also identify the resource. */
  readonly problems: readonly (OptionProblem & Partial<ResourceProblem>)[];

  constructor(
    code: XdsErrorCode,
    message: string,
    details: { cause?: unknown; problems?: readonly OptionProblem[] } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.problems = details.problems ?? [];
  }
}

/** The error of invalid options. */
export function optionsError(problems: readonly OptionProblem[]): XdsError {
  return new XdsError("OPTIONS_INVALID", describeProblems("the options are not valid", problems), { problems });
}

/** The error of invalid arguments of a method. */
export function argumentsError(method: string, problems: readonly OptionProblem[]): XdsError {
  return new XdsError("OPTIONS_INVALID", describeProblems(method, problems), { problems });
}

/** The error of an address where the server cannot listen, with the reason that the system gave. */
export function listenError(where: string, cause: unknown): XdsError {
  const reason = cause instanceof Error ? `: ${cause.message}` : "";
  return new XdsError("LISTEN_FAILED", `cannot listen ${where}${reason}`, { cause });
}
