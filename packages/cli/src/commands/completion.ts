import type { Command } from "commander";
import { typeNames, typeWords } from "../discovery/type-named.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { bashCompletion, fishCompletion, zshCompletion } from "./completion/scripts.ts";
import type { CompletedCommand, CompletedOption } from "./completion/words.ts";
import type { CommandContext } from "./context.ts";

export async function completion(shell: string, program: Command, { io }: CommandContext): Promise<ExitCode> {
  const commands = program.commands.map(describeCommand);
  const options = program.createHelp().visibleOptions(program).map(describeOption); // includes --help
  const script = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }[shell];
  io.stdout.write(script?.(commands, options) ?? "");
  return exitCode.ok;
}

/** Arguments that shells complete as paths. */
const paths: ReadonlyMap<string, "directory" | "file"> = new Map([
  ["dir", "directory"],
  ["bootstrap", "file"],
]);

function describeCommand(command: Command): CompletedCommand {
  const [first] = command.registeredArguments;
  const words = first?.name() === "type" ? [...typeNames.keys(), ...typeWords] : (first?.argChoices ?? []);
  return {
    name: command.name(),
    says: command.summary(),
    words,
    takes: first && paths.get(first.name()),
    options: command.options.filter(({ hidden }) => !hidden).map(describeOption),
  };
}

function describeOption(option: Command["options"][number]): CompletedOption {
  const { long, short, description, required, flags } = option;
  // The choices of a setting are in its placeholder: `<a|b>`.
  const words = /<([^>]*\|[^>]*)>/.exec(flags)?.[1]?.split("|");
  const isFile = /<(file|dir)>/.test(flags);
  return {
    long: long ?? "",
    short,
    says: firstSentence(description),
    choices: option.argChoices ?? words ?? [],
    takesValue: required,
    isFile,
  };
}

function firstSentence(text: string): string {
  return (text.split("\n")[0] ?? "").replace(/ \[XDS_.*\]$/, "").replace(/\.( .*)?$/, "");
}
