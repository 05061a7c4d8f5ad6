import type { OptionProblem } from "@xdskit/protocol";

/** The kinds of errors, to branch on. */
export type XdsClientErrorCode =
  /** The configuration is invalid; `problems` lists everything that is wrong. */
  | "CONFIG_INVALID"
  /** An argument of a method is invalid; `problems` lists everything that is wrong. */
  | "ARGUMENT_INVALID"
  /** No server can be reached. */
  | "UNREACHABLE"
  /** No response came in time. */
  | "TIMEOUT"
  /** The resource does not exist. */
  | "DOES_NOT_EXIST"
  /** The client rejected an update (NACK); the previous version stays in force. */
  | "REJECTED"
  /** The server sent a resource error in place of the resource. */
  | "RESOURCE_ERROR"
  /** The type is unknown, or has no source that serves it. */
  | "TYPE_UNSUPPORTED"
  /** The client is closed. */
  | "CLOSED";

/** A mistake in a configuration or an argument, and where it is. */
export interface ConfigProblem extends OptionProblem {
  /** The file, or the name of the input; undefined for options. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  readonly column?: number;
  /** The path of the field, such as `dynamic_resources.ads_config.grpc_services[0]`; for an argument, its name. */
  readonly path: string;
}

/** The only class of errors that this library throws and passes to watches. */
export class XdsClientError extends Error {
  override readonly name = "XdsClientError";
  readonly code: XdsClientErrorCode;
  /** Filled only for `CONFIG_INVALID` and `ARGUMENT_INVALID`. */
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
