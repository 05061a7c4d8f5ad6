import type { ExitCode } from "../exit-code.ts";
import type { Io, Output } from "../io.ts";
import type { Colors } from "../output/color.ts";

/** What every command works with. */
export interface CommandContext {
  readonly io: Io;
  /** The colours for one of its outputs. */
  colorsOf(output: Output): Colors;
  /** Runs a command's work and remembers how it went. An interruption ends it at once. */
  perform(work: () => Promise<ExitCode>): Promise<void>;
  /** The same for work that goes on until it is interrupted, and then has something left to do. */
  performUntilInterrupted(work: () => Promise<ExitCode>): Promise<void>;
}
