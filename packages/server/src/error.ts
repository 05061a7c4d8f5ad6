import type { TypeUrl } from "@xdskit/protocol";

/** What can go wrong for whoever embeds a server. */
export type XdsErrorCode =
  /** `problems` names every mistake in the options. */
  | "OPTIONS_INVALID"
  /** The address cannot be listened at; `cause` says why. */
  | "LISTEN_FAILED"
  /** A certificate, key or authority cannot be read or does not fit; `cause` says why. */
  | "TLS_INVALID"
  /** A directory cannot be written to, or somebody else writes to it; `cause` says why. */
  | "FILES_FAILED"
  /** What was to be committed is no transaction; `problems` names every mistake. Nothing of it took effect. */
  | "TRANSACTION_INVALID"
  /** Resources that `set` or `update` was given are wrong; `problems` names every mistake. Nothing of it took effect. */
  | "RESOURCES_INVALID"
  /** A transaction would leave a name with variants of which some client could be meant to have two; `problems` names each. */
  | "VARIANTS_AMBIGUOUS"
  /** The server was started twice, or used after it was closed. */
  | "SERVER_STATE";

/** One mistake in what a program handed over. */
export interface OptionProblem {
  /** Such as `limits.maxStreams`. */
  readonly path: string;
  readonly message: string;
}

/** Something wrong with a resource that a program handed over. */
export interface ResourceProblem extends OptionProblem {
  /** Listed in the reference of problems. */
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly layer: string;
  /** Absent where it cannot be read. */
  readonly type?: TypeUrl;
  /** Absent where it cannot be read. */
  readonly name?: string;
  /** What to do about it. */
  readonly hint?: string;
  /** The other resource of a problem between two. */
  readonly related?: { readonly layer: string; readonly type: TypeUrl; readonly name: string };
}

/** The one class of errors that this package throws on purpose. Branch on `code`; messages are for people. */
export class XdsError extends Error {
  override readonly name = "XdsError";
  readonly code: XdsErrorCode;
  /** Those of RESOURCES_INVALID say more of the resource. */
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
