import { type Load, type Problem, problemCounts, readSettings } from "@xdskit/source";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { describeLoad } from "../output/describe-load.ts";
import { formatJson } from "../output/json.ts";
import { countProblems, formatGithubProblems, formatProblems, plural } from "../output/problems.ts";
import { withStatusLine } from "../output/status-line.ts";
import { findConflicts } from "../settings/conflicts.ts";
import { findExposure } from "../settings/exposure.ts";
import { loadApi } from "../settings/load-api.ts";
import { requireReadableFiles } from "../settings/readable-files.ts";
import { resolveSettings, type SettingValues } from "../settings/resolve-settings.ts";
import { serverOptionsOf } from "../settings/server-options.ts";
import { createSource } from "../settings/source.ts";
import { type SourcePlace, sourcePlaceOf } from "../settings/source-place.ts";
import { STANDARD_INPUT, withStandardInput } from "../standard-input.ts";
import type { CommandContext } from "./context.ts";

type OutputFormat = "text" | "json" | "github";

export interface ValidateFlags {
  readonly output: OutputFormat;
  /** The name of `output` up to 0.1. */
  readonly format?: OutputFormat;
  readonly strict?: boolean;
  readonly v2?: boolean;
  readonly [setting: string]: unknown;
}

/** What `--output json` prints. */
export interface ValidateAnswer {
  /** Whether the exit code is 0: no errors, and with `--strict` no warnings. */
  readonly ok: boolean;
  readonly errors: number;
  readonly warnings: number;
  /** Missing if errors prevented the directory from being loaded. */
  readonly files?: number;
  readonly resources?: number;
  readonly problems: readonly Problem[];
}

export async function validate(directory: string, flags: ValidateFlags, context: CommandContext): Promise<ExitCode> {
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
  // `--v2` is a flag of this command here, not the setting of that name.
  const { v2: asksOfV2, ...settings } = flags;
  const { values, troubles } = resolveSettings({ flags: settings, env: io.env, file, cwd: io.cwd, directory });
  if (troubles.length > 0) throw new CommandError(exitCode.usage, troubles.join("\n"));
  const ofSettings: Problem[] = [];
  if (!hasErrors(file.problems)) {
    const conflicts = await findConflicts(values, place);
    if (conflicts.troubles.length > 0) throw new CommandError(exitCode.usage, conflicts.troubles.join("\n"));
    ofSettings.push(...conflicts.problems);
  }
  if (!hasErrors([...file.problems, ...ofSettings])) {
    ofSettings.push(...findExposure({ options: serverOptionsOf(values, file.listeners, directory), file }));
    await requireReadableFiles(values, file.listeners, directory, "within");
  }
  const loaded = await loadOnce(place, { values, findsVersionLoss: asksOfV2 === true }, context);
  const load: Load = { ...loaded, problems: [...loaded.problems, ...ofSettings] };
  print(
    shown === STANDARD_INPUT ? ofStandardInput(load) : load,
    { format: flags.format ?? flags.output, place, strict: flags.strict === true },
    context,
  );
  const isBad = (severity: string): boolean => severity === "error" || flags.strict === true;
  return load.problems.some(({ severity }) => isBad(severity)) ? exitCode.problems : exitCode.ok;
}

function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/** Shows the temporary file as `-` in problems. */
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
  return await withStatusLine(io, (update) => source.load((progress) => update(() => describeLoad(progress))));
}

function print(
  { state, problems }: Load,
  { format, place, strict }: { readonly format: OutputFormat; readonly place: SourcePlace; readonly strict: boolean },
  { io, colorsOf }: CommandContext,
): void {
  if (format === "json") {
    const { errors, warnings } = problemCounts(problems);
    const answer: ValidateAnswer = {
      ok: strict ? problems.length === 0 : errors === 0,
      errors,
      warnings,
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
