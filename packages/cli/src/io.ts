import { once } from "node:events";
import { isatty } from "node:tty";
import { exitCode } from "./exit-code.ts";
import { Hangups } from "./hangups.ts";
import { openScreen, type Screen } from "./screen.ts";
import { systemErrorReason } from "./system-error.ts";
import { understandsEscapes, watchTerminals } from "./terminals.ts";

/** An output stream for text. */
export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** The width of the terminal. */
  readonly columns: number;
}

/** Everything that a command uses of the process, so that tests can replace it. */
export interface Io {
  /** Results. */
  readonly stdout: Output;
  /** Resolves when the reader of stdout has kept up with what was written. */
  drained(): Promise<void>;
  /** Problems, progress and logs. */
  readonly stderr: Output;
  /** Reads standard input to its end. */
  readInput(): Promise<Uint8Array>;
  /** Standard input, part by part. */
  input(): AsyncIterable<Uint8Array>;
  /** Takes the whole terminal; undefined if stdout is none that can be drawn on. */
  openScreen(): Screen | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  now(): Date;
  /** From now on, the command continues when the reader of stdout is gone. */
  needNoReader(): void;
  /**
   * From now on, when the reader of stdout is gone, the command still ends by itself, with the exit code that it has
   * without a reader that stops early.
   */
  endByItself(): void;
  /** Aborted by the first Ctrl-C or SIGTERM, with the signal's name as the reason. */
  readonly interrupted: AbortSignal;
  /**
   * From now on, SIGHUP calls the listener instead of ending the process, also one that was kept. If it comes because
   * the terminal of the command was closed, it interrupts the command instead.
   */
  onHangup(listener: () => void): void;
}

const DEFAULT_COLUMNS = 100;

/**
 * Creates the `Io` of the real process. A second signal ends it at once. `keepsHangup`: a SIGHUP that comes before
 * `onHangup` is kept until then.
 */
export function createProcessIo({ keepsHangup }: { readonly keepsHangup: boolean }): Io {
  const interruption = new AbortController();
  const hangups = new Hangups({ hasLostTerminal: watchTerminals(isatty), end: () => interruption.abort("SIGHUP") });
  if (keepsHangup) hangups.hold();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (interruption.signal.aborted) process.exit(name === "SIGINT" ? 130 : 143);
      interruption.abort(name);
    });
  }
  let needsReader = true;
  let endsByItself = false;
  // A reader that stops early, such as `head`, is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!needsReader) return;
    if (error.code === "EPIPE") {
      if (endsByItself) return;
      process.exit(exitCode.ok);
    }
    process.stderr.write(`xds: cannot write to standard output: ${systemErrorReason(error)}\n`);
    process.exit(exitCode.outputFailed);
  });
  // Errors of stderr do not end the process: its reader may be gone, or its disk full.
  process.stderr.on("error", () => undefined);
  const stdout = outputTo(process.stdout);
  return {
    stdout,
    stderr: outputTo(process.stderr),
    readInput: async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    input: () => process.stdin,
    drained: async () => {
      // An error is handled above.
      if (process.stdout.writableNeedDrain) await once(process.stdout, "drain").catch(() => undefined);
    },
    openScreen: () => (understandsEscapes(stdout, process.env) ? openScreen(process.stdout, process.stdin) : undefined),
    env: process.env,
    cwd: process.cwd(),
    now: () => new Date(),
    needNoReader: () => {
      needsReader = false;
    },
    endByItself: () => {
      endsByItself = true;
    },
    interrupted: interruption.signal,
    onHangup: (listener) => hangups.listen(listener),
  };
}

/** Writes to a stream of this process. */
export function outputTo(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => void stream.write(text),
    isTerminal: stream.isTTY === true,
    get columns(): number {
      return stream.columns ?? DEFAULT_COLUMNS;
    },
  };
}
