import type { Command } from "commander";
import type { CommandContext } from "../commands/context.ts";

/**
 * Adds what the command line takes for one command. The command itself is in `commands` and loaded when it is run, so that a
 * command line that runs none, such as `xds --help`, loads none.
 */
export type AddCommand = (program: Command, context: CommandContext) => void;

/** Examples at the end of a command's help: a line to type, and what it does. */
export function addExamples(command: Command, examples: readonly (readonly [line: string, says: string])[]): void {
  const lines = examples.flatMap(([line, says]) => [`  # ${says}`, `  $ ${line}`, ""]);
  command.addHelpText("after", ["", "Examples:", ...lines].join("\n").trimEnd());
}
