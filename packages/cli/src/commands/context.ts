import type { ExitCode } from "../exit-code.ts";
import type { Io, Output } from "../io.ts";
import type { Colors } from "../output/color.ts";

/** What every command is called with. */
export interface CommandContext {
  readonly io: Io;
  /** Colours for stdout or stderr. */
  colorsOf(output: Output): Colors;
  /** Runs a command and stores its exit code. An interruption ends it at once. */
  perform(work: () => Promise<ExitCode>): Promise<void>;
  /** Runs a command that handles the interruption itself, such as one that drains first. */
  performUntilInterrupted(work: () => Promise<ExitCode>): Promise<void>;
}
