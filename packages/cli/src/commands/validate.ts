import { type Load, type Problem, readSettings, type SettingKey } from "@xdskit/source";
import { Option } from "commander";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { describeLoad } from "../output/describe-load.ts";
import { formatJson } from "../output/json.ts";
import { countProblems, formatGithubProblems, formatProblems, plural } from "../output/problems.ts";
import { createStatusLine } from "../output/status-line.ts";
import { loadApi } from "../settings/load-api.ts";
import { resolveSettings, type SettingValues } from "../settings/resolve-settings.ts";
import { addSettingFlags } from "../settings/setting-flag.ts";
import { createSource } from "../settings/source.ts";
import { type SourcePlace, sourcePlaceOf } from "../settings/source-place.ts";
import { STANDARD_INPUT, withStandardInput } from "../standard-input.ts";
import { type AddCommand, addExamples, type CommandContext } from "./context.ts";

const SETTINGS: readonly SettingKey[] = [
  "descriptors",
  "validation",
  "allow-empty",
  "limits.max-file-bytes",
  "limits.module-timeout",
];

const OUTPUTS = ["text", "json", "github"] as const;
type OutputFormat = (typeof OUTPUTS)[number];

interface ValidateFlags {
  readonly output: OutputFormat;
  /** The name of `output` up to 0.1. */
  readonly format?: OutputFormat;
  readonly strict?: boolean;
  readonly v2?: boolean;
  readonly [setting: string]: unknown;
}

/** What `--output json` prints. */
export interface ValidateAnswer {
  readonly ok: boolean;
  readonly errors: number;
  readonly warnings: number;
  /** Undefined where errors kept the directory from being read as a whole. */
  readonly files?: number;
  readonly resources?: number;
  readonly problems: readonly Problem[];
}

/** `xds validate DIR`: every problem in a directory, without serving it. */
export const addValidateCommand: AddCommand = (program, context) => {
  const command = program
    .command("validate")
    .summary("check a directory and print all problems")
    .description("Check a directory of resources and print all problems.")
    .argument("<dir>", "directory to read, or a module such as mesh.ts; - reads one file from standard input")
    .addOption(new Option("-o, --output <format>", "output format").choices(OUTPUTS).default("text"))
    .addOption(new Option("--format <format>", "the same, as it was called before").choices(OUTPUTS))
    .option("--strict", "fail on warnings too")
    .option("--v2", "warn about fields that are lost in conversion between v2 and v3")
    .action((directory: string, flags: ValidateFlags) => context.perform(() => validate(directory, flags, context)));
  addSettingFlags(command, SETTINGS);
  addExamples(command, [
    ["xds validate config", "every problem, with file, line and column"],
    ["kubectl get cm xds -o jsonpath='{.data.cds\\.yaml}' | xds validate -", "one file from standard input"],
    ["xds validate config --v2", "what clients of version 2 would miss"],
    ["xds validate config -o github --strict", "in a workflow: problems beside the changed lines"],
  ]);
};

async function validate(directory: string, flags: ValidateFlags, context: CommandContext): Promise<ExitCode> {
  if (directory !== STANDARD_INPUT) {
    return validateAt(await sourcePlaceOf(directory, context.io.cwd), flags, context);
  }
  return withStandardInput(context.io, (input) => {
    const place = { directory: input.directory, module: undefined, shownDirectory: ".", shown: STANDARD_INPUT };
    return validateAt(place, flags, context);
  });
}

async function validateAt(place: SourcePlace, flags: ValidateFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  const { directory, shown } = place;
  const file = await readSettings(directory);
  // Here `--v2` asks a question; it is not the setting of that name.
  const { v2: asksOfV2, ...settings } = flags;
  const { values, troubles } = resolveSettings({ flags: settings, env: io.env, file, cwd: io.cwd, directory });
  if (troubles.length > 0) throw new CommandError(exitCode.usage, troubles.join("\n"));
  const load = await loadOnce(place, { values, findsVersionLoss: asksOfV2 === true }, context);
  print(
    shown === STANDARD_INPUT ? ofStandardInput(load) : load,
    { format: flags.format ?? flags.output, place },
    context,
  );
  const isBad = (severity: string): boolean => severity === "error" || flags.strict === true;
  return load.problems.some(({ severity }) => isBad(severity)) ? exitCode.problems : exitCode.ok;
}

/** With the only file called as the caller does. */
function ofStandardInput({ state, problems }: Load): Load {
  const file = STANDARD_INPUT;
  return {
    state,
    problems: problems.map((problem) => ({
      ...problem,
      file,
      ...(problem.related !== undefined && { related: { ...problem.related, file } }),
    })),
  };
}

async function loadOnce(
  place: SourcePlace,
  { values, findsVersionLoss }: { readonly values: SettingValues; readonly findsVersionLoss: boolean },
  { io }: CommandContext,
): Promise<Load> {
  const api = await loadApi(values.list("descriptors"));
  const source = createSource(place, values, { api, io, findsVersionLoss });
  const line = createStatusLine(io);
  const load = await source.load((progress) => line.update(() => describeLoad(progress)));
  line.clear();
  return load;
}

function print(
  { state, problems }: Load,
  { format, place }: { readonly format: OutputFormat; readonly place: SourcePlace },
  { io, colorsOf }: CommandContext,
): void {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (format === "json") {
    const answer: ValidateAnswer = {
      ok: errors === 0,
      errors,
      warnings: problems.length - errors,
      ...(state !== undefined && { files: state.files, resources: state.resources }),
      problems,
    };
    io.stdout.write(formatJson(answer));
    return;
  }
  if (format === "github") io.stdout.write(formatGithubProblems(problems, place.shownDirectory));
  else io.stdout.write(formatProblems(problems, place.shownDirectory, colorsOf(io.stdout)));
  const read = state === undefined ? "" : `${plural(state.resources, "resource")} in ${plural(state.files, "file")}, `;
  io.stdout.write(`${place.shown}: ${read}${countProblems(problems)}\n`);
}
