import { availableParallelism } from "node:os";
import { type Problem, readSettings } from "@xdskit/source";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { countProblems, formatProblems } from "../output/problems.ts";
import { findConflicts } from "../settings/conflicts.ts";
import { createApi, loadDescriptors } from "../settings/load-api.ts";
import { requireReadableFiles } from "../settings/readable-files.ts";
import { resolveSettings } from "../settings/resolve-settings.ts";
import { createSource } from "../settings/source.ts";
import { sourcePlaceOf } from "../settings/source-place.ts";
import type { CommandContext } from "./context.ts";
import { BegunLoad } from "./serve/begun-load.ts";

// Loads nothing of the server, so that a directory is read while that is loaded.

export async function serve(
  given: string | undefined,
  flags: Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  io.needNoReader();
  // Without a source only the store is followed, with the settings of the working directory.
  const place = await sourcePlaceOf(given ?? ".", io.cwd);
  const { directory } = place;
  const file = await readSettings(directory);
  const { problems } = file;
  if (problems.some(leavesSettingsUnknown)) return refuseSettings(problems, place.shownDirectory, context);
  const { values, troubles } = resolveSettings({ flags, env: io.env, file, cwd: io.cwd, directory });
  if (troubles.length > 0) throw new CommandError(exitCode.usage, troubles.join("\n"));
  const conflicts = await findConflicts(values, given === undefined ? undefined : place);
  if (conflicts.problems.length > 0) return refuseSettings(conflicts.problems, place.shownDirectory, context);
  if (conflicts.troubles.length > 0) throw new CommandError(exitCode.usage, conflicts.troubles.join("\n"));
  if (given === undefined && values.text("store") === undefined)
    throw new CommandError(exitCode.usage, "expected a directory to serve, or a store to follow", "give --store");
  const descriptorFiles = values.list("descriptors");
  const descriptors = await loadDescriptors(descriptorFiles).catch(async (cause: unknown) => {
    // Tells all files that are not there in place of the first one.
    await requireReadableFiles(values, file.listeners, directory);
    throw cause;
  });
  const api = createApi(descriptorFiles, descriptors);
  const source = given === undefined ? undefined : createSource(place, values, { api, io, offThread: { descriptors } });
  // Running a module may have effects, which nobody expects of a server that cannot start. With one processor, what was
  // served before would be served later.
  const readsAhead = place.module === undefined && availableParallelism() > 1;
  const begun = source !== undefined && readsAhead ? new BegunLoad(source) : undefined;
  try {
    const { serveSource } = await import("./serve/serve-source.ts");
    return await serveSource({ flags, place, file, values, api, source, begun }, context);
  } catch (cause) {
    source?.close?.();
    throw cause;
  }
}

/** Errors in groups, client and access rules do not affect how the server listens; they can be fixed later. */
function leavesSettingsUnknown({ severity, path = "" }: Problem): boolean {
  return severity === "error" && !/^(?:groups|clients|access)\b/.test(path);
}

/** Without its settings the server would listen with the defaults, for one without TLS. */
function refuseSettings(problems: readonly Problem[], directory: string, { io, colorsOf }: CommandContext): ExitCode {
  io.stderr.write(formatProblems(problems, directory, colorsOf(io.stderr)));
  io.stderr.write(`${directory}: ${countProblems(problems)} in the settings: nothing is started\n`);
  return exitCode.problems;
}
