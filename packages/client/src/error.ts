/** What went wrong, to branch on. */
export type XdsClientErrorCode =
  /** The configuration cannot be used; `problems` says why, all of it. */
  | "CONFIG_INVALID"
  /** A method was called with what it does not take; `problems` says why, all of it. */
  | "ARGUMENT_INVALID"
  /** No server can be reached. */
  | "UNREACHABLE"
  /** Nothing came in time. */
  | "TIMEOUT"
  /** There is no such resource. */
  | "DOES_NOT_EXIST"
  /** An update was refused, and what was there before stays in force. */
  | "REJECTED"
  /** The server said that it cannot give the resource. */
  | "RESOURCE_ERROR"
  /** The type is not served in that way, or not known. */
  | "TYPE_UNSUPPORTED"
  /** The client was closed. */
  | "CLOSED";

/** A mistake in a configuration or an argument, with its place where it has one. */
export interface ConfigProblem {
  readonly severity: "error" | "warning";
  readonly message: string;
  /** A way out, such as the spelling that was meant. */
  readonly hint?: string;
  /** The file, or what stands for it; undefined where it came as options. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  /** Such as `dynamic_resources.ads_config.grpc_services[0]`; of an argument its name. */
  readonly path: string;
}

/** The one class of errors that this library throws, and hands to watches. */
export class XdsClientError extends Error {
  override readonly name = "XdsClientError";
  readonly code: XdsClientErrorCode;
  /** Only with `CONFIG_INVALID` and `ARGUMENT_INVALID`. */
  readonly problems: readonly ConfigProblem[];

  constructor(
    code: XdsClientErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly problems?: readonly ConfigProblem[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.problems = options.problems ?? [];
  }
}
