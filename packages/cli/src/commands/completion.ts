import type { Command } from "commander";
import { typeNames, typeWords } from "../discovery/type-named.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { bashCompletion, fishCompletion, zshCompletion } from "./completion/scripts.ts";
import type { CompletedArgument, CompletedCommand, CompletedOption } from "./completion/words.ts";
import type { CommandContext } from "./context.ts";

export async function completion(shell: string, program: Command, { io }: CommandContext): Promise<ExitCode> {
  const commands = program.commands.map(describeCommand);
  const options = program.createHelp().visibleOptions(program).map(describeOption); // includes --help
  const script = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }[shell];
  io.stdout.write(script?.(commands, options) ?? "");
  return exitCode.ok;
}

/** Arguments that shells complete as paths. */
const paths: ReadonlyMap<string, CompletedArgument["path"]> = new Map([
  ["dir", "source"],
  ["a", "source"],
  ["b", "source"],
  ["bootstrap", "file"],
  ["file", "file"],
]);

/** What the arguments of some names can be beside a path. */
const words: ReadonlyMap<string, readonly string[]> = new Map([
  ["type", [...typeNames.keys(), ...typeWords]],
  ["a", ["head", "held"]],
  ["b", ["head", "held"]],
]);

function describeCommand(command: Command): CompletedCommand {
  return {
    name: command.name(),
    says: command.summary(),
    takes: command.registeredArguments.map(describeArgument),
    options: command.options.filter(({ hidden }) => !hidden).map(describeOption),
  };
}

function describeArgument(argument: Command["registeredArguments"][number]): CompletedArgument {
  const name = argument.name();
  return { name, words: argument.argChoices ?? words.get(name) ?? [], path: paths.get(name) };
}

function describeOption(option: Command["options"][number]): CompletedOption {
  const { long, short, description, required, flags } = option;
  // The choices of a setting are in its placeholder: `<a|b>`.
  const alternatives = /<([^>]*\|[^>]*)>/.exec(flags)?.[1]?.split("|");
  const isFile = /<(file|dir|path)>/.test(flags);
  return {
    long: long ?? "",
    short,
    says: firstSentence(description),
    choices: option.argChoices ?? alternatives ?? [],
    takesValue: required,
    isFile,
  };
}

function firstSentence(text: string): string {
  return (text.split("\n")[0] ?? "").replace(/ \[XDS_.*\]$/, "").replace(/\.( .*)?$/, "");
}
