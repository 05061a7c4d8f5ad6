import { nearestName } from "@xdskit/protocol/problem";
import { Command, CommanderError } from "commander";
import { commands } from "./command-line/commands.ts";
import type { CommandContext } from "./commands/context.ts";
import { CommandError, type ExitCode, exitCode, exitCodeMeanings } from "./exit-code.ts";
import { aborted } from "./interruption.ts";
import type { Io, Output } from "./io.ts";
import { openFileLimit, tooManyOpenFiles } from "./open-files.ts";
import { type Colors, chooseColors } from "./output/color.ts";
import { VERSION } from "./version.ts";

/** Runs one command line (without the names of the program) and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  let code: ExitCode = exitCode.ok;
  // Cannot be read any more once it is reached.
  const openFiles = openFileLimit();
  const program = new Command("xds");
  const colorsOf = (output: Output): Colors =>
    chooseColors(output, io.env, program.opts()["color"] === false ? "never" : "auto");
  const context: CommandContext = {
    io,
    colorsOf,
    perform: async (work) => {
      io.endByItself();
      code = await Promise.race([work(), aborted(io.interrupted).then(() => exitCode.interrupted)]);
    },
    performUntilInterrupted: async (work) => {
      code = await work();
    },
  };
  build(program, context);
  try {
    await program.parseAsync(withoutUnknownHelp(argv, program), { from: "user" });
  } catch (cause) {
    return explain(tooManyOpenFiles(cause, openFiles) ?? cause, io, colorsOf(io.stderr));
  }
  return code;
}

function build(program: Command, context: CommandContext): void {
  const { io } = context;
  program
    .description("Serve and inspect xDS, the protocol by which Envoy and gRPC clients discover their configuration.")
    .version(VERSION, "-V, --version", "print the version")
    .option("--no-color", "no colours (also: NO_COLOR; FORCE_COLOR for colours in a pipe)")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(inOurWords(text)),
      getOutHelpWidth: () => Math.min(io.stdout.columns, 120),
      getErrHelpWidth: () => Math.min(io.stderr.columns, 120),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  program.addHelpText("after", () => describeExitCodes());
  for (const add of commands) add(program, context);
  for (const command of program.commands) command.copyInheritedSettings(program).helpOption("-h, --help", "print help");
}

/** Commander prints the main help for `help nosuch`; without `help` it says that the command is unknown. */
function withoutUnknownHelp(argv: readonly string[], program: Command): string[] {
  const [first, name] = argv;
  const isUnknown =
    first === "help" &&
    name !== undefined &&
    name !== "help" &&
    !program.commands.some((command) => command.name() === name);
  return isUnknown && !name.startsWith("-") ? [name] : [...argv];
}

/** Formats Commander's errors like ours. */
function inOurWords(text: string): string {
  return text
    .replace(INVALID_CHOICE, (_, option = "", given, argument = "", choices) => {
      const meant = nearestName(given, String(choices).split(", "));
      const hint = meant === undefined ? "" : `\nhint: did you mean "${meant}"?`;
      return `xds: ${option || `<${argument}>`}: expected one of ${choices}, got "${given}"${hint}`;
    })
    .replace(/^error: /, "xds: ")
    .replace(/^\(Did you mean (.*)\?\)$/m, "hint: did you mean $1?");
}

const INVALID_CHOICE =
  /^error: (?:option '(.*)' argument|command-argument value) '(.*)' is invalid(?: for argument '(.*)')?\. Allowed choices are (.*)\.$/m;

function describeExitCodes(): string {
  const codes = exitCodeMeanings.map(([code, meaning]) => `  ${String(code).padEnd(4)}${meaning}`);
  const start = ["  # serve a directory, then look at it as a client does", "  $ xds serve config", "  $ xds get cds"];
  return ["", "Exit codes:", ...codes, "", "Examples:", ...start].join("\n");
}

function explain(cause: unknown, io: Io, colors: Colors): ExitCode {
  // Commander has already printed the error.
  if (cause instanceof CommanderError) return cause.exitCode === 0 ? exitCode.ok : exitCode.usage;
  if (cause instanceof CommandError) {
    io.stderr.write(`xds: ${colors.red(cause.message)}\n`);
    if (cause.hint !== undefined) io.stderr.write(`${colors.cyan("hint")}: ${cause.hint}\n`);
    return cause.exitCode;
  }
  const stack = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  io.stderr.write(`xds: internal error, please report it with what you did:\n${stack}\n`);
  return exitCode.bug;
}
