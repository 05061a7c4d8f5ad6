import { resolve } from "node:path";
import { createFileExport, type FileExport, XdsError } from "@xdskit/server";
import { type Load, readSettings } from "@xdskit/source";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { aborted, unlessAborted } from "../interruption.ts";
import { describeLoad } from "../output/describe-load.ts";
import { countProblems, formatProblems } from "../output/problems.ts";
import { withStatusLine } from "../output/status-line.ts";
import { loadApi } from "../settings/load-api.ts";
import { isInSource, ownSource } from "../settings/own-source.ts";
import { resolveSettings, type SettingValues } from "../settings/resolve-settings.ts";
import { createSource } from "../settings/source.ts";
import { type SourcePlace, sourcePlaceOf } from "../settings/source-place.ts";
import type { CommandContext } from "./context.ts";
import { ChangeLines } from "./export/change-lines.ts";
import { type ExportFlags, fileOutputOf } from "./export/flags.ts";
import { ExportRecord } from "./export/record.ts";
import { formatSummary } from "./export/summary.ts";
import { committing } from "./serve/publishing.ts";
import { createServeLog, logFormatOf } from "./serve/serve-log.ts";
import { Service } from "./serve/service.ts";

interface Prepared {
  readonly place: SourcePlace;
  readonly values: SettingValues;
  readonly file: Awaited<ReturnType<typeof readSettings>>;
  readonly api: Awaited<ReturnType<typeof loadApi>>;
  readonly output: ReturnType<typeof fileOutputOf>;
}

async function prepare(
  given: { readonly directory: string; readonly out: string },
  flags: ExportFlags,
  { io }: CommandContext,
): Promise<Prepared> {
  const place = await sourcePlaceOf(given.directory, io.cwd);
  const { directory } = place;
  const file = await readSettings(directory);
  // `--v2` is the version of the files here, and not the setting `v2` of a server.
  const { v2: _, ...settings } = flags;
  const { values, troubles } = resolveSettings({ flags: settings, env: io.env, file, cwd: io.cwd, directory });
  if (troubles.length > 0) throw new CommandError(exitCode.usage, troubles.join("\n"));
  const api = await loadApi(values.list("descriptors"));
  const out = resolve(io.cwd, given.out);
  if (await isInSource(place, out)) throw new CommandError(exitCode.usage, ownSource.message, ownSource.hint);
  return { place, values, file, api, output: fileOutputOf(out, flags) };
}

export async function exportOnce(
  directory: string,
  out: string,
  flags: ExportFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  const { place, values, api, output } = await prepare({ directory, out }, flags, context);
  const source = createSource(place, values, { api, io });
  const load = await withStatusLine(io, (update) => source.load((progress) => update(() => describeLoad(progress))));
  tellProblems(load, place, context);
  if (load.state === undefined) return exitCode.problems;
  const writing = createFileExport({ api, files: output, dialect: dialectOf(values) });
  const record = new ExportRecord(writing);
  try {
    await start(writing);
    const { groups, layers } = load.state;
    writing.commit({ changes: [...layers].map(([layer, puts]) => ({ layer, puts })), nodeMapping: { groups } });
    const resources = await unlessAborted(Promise.race([writing.whenInSync(), record.firstProblem]), io.interrupted);
    if (io.interrupted.aborted) return exitCode.interrupted;
    if (typeof resources !== "number") throw new CommandError(exitCode.problems, resources ?? "the writer was closed");
    io.stderr.write(record.formatNotes(context.colorsOf(io.stderr)));
    io.stdout.write(formatSummary({ output, resources, record }));
    return exitCode.ok;
  } finally {
    await writing.close();
  }
}

function tellProblems(
  { problems, state }: Load,
  { shown, shownDirectory }: SourcePlace,
  { io, colorsOf }: CommandContext,
): void {
  if (problems.length === 0) return;
  const nothing = state === undefined ? ": nothing is written" : "";
  io.stderr.write(formatProblems(problems, shownDirectory, colorsOf(io.stderr)));
  io.stderr.write(`${shown}: ${countProblems(problems)}${nothing}\n`);
}

export async function exportAndFollow(
  directory: string,
  out: string,
  flags: ExportFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  const { place, values, file, api, output } = await prepare({ directory, out }, flags, context);
  const writing = createFileExport({ api, files: output, dialect: dialectOf(values) });
  const log = createServeLog(values, context);
  const lines = new ChangeLines(writing, context);
  const record = new ExportRecord(writing);
  const isText = logFormatOf(values, context) === "text";
  try {
    await start(writing);
    const onServing = (): void => void tellFirst();
    const tellFirst = async (): Promise<void> => {
      const resources = await writing.whenInSync();
      if (resources === undefined) return;
      io.stderr.write(record.formatNotes(context.colorsOf(io.stderr)));
      if (io.stdout.isTerminal) io.stdout.write(formatSummary({ output, resources, record }));
      lines.tellInSync(resources);
    };
    // The only client is the file writer, whom no access rules or overrides concern.
    const publishing = committing(writing);
    const server = { reportSource: () => undefined };
    const source = createSource(place, values, { api, io });
    const service = new Service({ server, publishing, source, log, context, file, place, isText, onServing });
    await Promise.race([service.load(), aborted(io.interrupted)]);
    await service.follow(io.interrupted);
  } finally {
    await writing.close();
  }
  return exitCode.ok;
}

function dialectOf(values: SettingValues): { readonly makeBeforeBreak: boolean; readonly orderLimitMs: number } {
  return {
    makeBeforeBreak: values.flag("make-before-break") ?? true,
    orderLimitMs: values.number("order-limit") ?? 30_000,
  };
}

async function start(writing: FileExport): Promise<void> {
  try {
    await writing.start();
  } catch (cause) {
    if (!(cause instanceof XdsError)) throw cause;
    throw new CommandError(exitCode.problems, cause.message);
  }
}
