import type { Command } from "commander";
import type { CommandContext } from "../commands/context.ts";

/**
 * Adds the arguments, flags and help of one command. The implementation in `commands` is loaded only when the command
 * runs, so that `xds --help` stays fast.
 */
export type AddCommand = (program: Command, context: CommandContext) => void;

/** Appends examples to a command's help: a line to type, and what it does. */
export function addExamples(command: Command, examples: readonly (readonly [line: string, says: string])[]): void {
  const lines = examples.flatMap(([line, says]) => [`  # ${says}`, `  $ ${line}`, ""]);
  command.addHelpText("after", ["", "Examples:", ...lines].join("\n").trimEnd());
}
