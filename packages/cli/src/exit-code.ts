/** What the command tells its caller. */
export const exitCode = {
  ok: 0,
  /** Problems were found, or what was asked for is not there. */
  problems: 1,
  /** The command line cannot be read. */
  usage: 2,
  /** The server cannot be reached, or serves nobody. */
  unreachable: 69,
  /** A bug of this program. */
  bug: 70,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** One line for each code, for help and documentation. */
export const exitCodeMeanings: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [exitCode.ok, "all is well"],
  [exitCode.problems, "problems were found, or what was asked for is not there"],
  [exitCode.usage, "the command line cannot be read"],
  [exitCode.unreachable, "the server cannot be reached, or serves nobody"],
  [exitCode.bug, "a bug of xds: please report it"],
  [exitCode.interrupted, "interrupted"],
];

/** Ends the command with a message; thrown where there is nothing more to do. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(code: ExitCode, message: string, hint?: string) {
    super(message);
    this.exitCode = code;
    this.hint = hint;
  }
}
