/** Exit codes. */
export const exitCode = {
  ok: 0,
  /** Problems were found, or a requested resource does not exist. */
  problems: 1,
  /** Invalid command line. */
  usage: 2,
  /** The source has errors. */
  sourceBroken: 3,
  /** Not all nodes had the revision in time. */
  timeout: 4,
  /** All nodes have the revision, but they are too few. */
  tooFewNodes: 5,
  /** A fuse holds what was published, or would hold what is planned. */
  held: 6,
  /** The server cannot be reached, or is not ready. */
  unreachable: 69,
  /** A bug of this program. */
  bug: 70,
  /** Standard output cannot be written to. */
  outputFailed: 74,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The meaning of each exit code, for help and documentation. */
export const exitCodeMeanings: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [exitCode.ok, "success"],
  [exitCode.problems, "problems were found, a client NACKed something, or a requested resource does not exist"],
  [exitCode.usage, "invalid command line"],
  [
    exitCode.sourceBroken,
    "wait, publish, plan: the source has errors; wait: it is held, or differs from what is in force; diff: a side has errors",
  ],
  [exitCode.timeout, "wait: not every node had the revision in time"],
  [exitCode.tooFewNodes, "wait: fewer nodes than --min-nodes have the revision"],
  [
    exitCode.held,
    "publish: a fuse holds the change, of which nothing is sent until it is approved; plan: it would; wait: the revision is held",
  ],
  [exitCode.unreachable, "the server or the store cannot be reached, or is not ready"],
  [exitCode.bug, "a bug in xds: please report it"],
  [exitCode.outputFailed, "standard output cannot be written to"],
  [exitCode.interrupted, "interrupted"],
];

/** Ends the command with a message, a hint and an exit code. */
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
