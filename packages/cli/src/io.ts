/** Where text goes. */
export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Of a terminal; how wide lines may be. */
  readonly columns: number;
}

/** Everything of the process that a command may use, so that tests can hand in their own. */
export interface Io {
  /** What was asked for. */
  readonly stdout: Output;
  /** What is said about it: problems, progress, logs. */
  readonly stderr: Output;
  /** Standard input, read to its end. */
  readInput(): Promise<Uint8Array>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  now(): Date;
  /** From now on the work counts, not who reads of it: it goes on when the reader of stdout is gone. */
  needNoReader(): void;
  /** Aborted by the first Ctrl-C or SIGTERM, with the signal's name as the reason. */
  readonly interrupted: AbortSignal;
  /** From now on SIGHUP does not end the process, but calls the listener. */
  onHangup(listener: () => void): void;
}

const DEFAULT_COLUMNS = 100;

/** The real process. A second signal ends it at once. */
export function createProcessIo(): Io {
  const interruption = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (interruption.signal.aborted) process.exit(name === "SIGINT" ? 130 : 143);
      interruption.abort(name);
    });
  }
  let needsReader = true;
  // The reader has had enough, as `head` has: no reason to complain.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!needsReader) return;
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  // What is said about the work is no reason to end it: its reader may be gone, or the disk of its file full.
  process.stderr.on("error", () => undefined);
  return {
    stdout: outputTo(process.stdout),
    stderr: outputTo(process.stderr),
    readInput: async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    env: process.env,
    cwd: process.cwd(),
    now: () => new Date(),
    needNoReader: () => {
      needsReader = false;
    },
    interrupted: interruption.signal,
    onHangup: (listener) => void process.on("SIGHUP", listener),
  };
}

function outputTo(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => void stream.write(text),
    isTerminal: stream.isTTY === true,
    get columns(): number {
      return stream.columns ?? DEFAULT_COLUMNS;
    },
  };
}
