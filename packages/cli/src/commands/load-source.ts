import type { EnvoyApi } from "@xdskit/envoy-api";
import { type Load, readSettings } from "@xdskit/source";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { loadApi } from "../settings/load-api.ts";
import { resolveSettings } from "../settings/resolve-settings.ts";
import { createSource } from "../settings/source.ts";
import { requireDirectory, type SourcePlace, sourcePlaceOf } from "../settings/source-place.ts";

/** A directory or module that a command reads once, with its settings. */
export interface LoadedSource extends Load {
  readonly api: EnvoyApi;
  readonly place: SourcePlace;
}

/**
 * Reads a directory or module. Throws a `CommandError` if there is none, with `codeIfMissing`, or a setting is invalid.
 */
export async function loadSource(
  given: string,
  flags: Readonly<Record<string, unknown>>,
  io: Io,
  codeIfMissing: ExitCode = exitCode.problems,
): Promise<LoadedSource> {
  const place = await sourcePlaceOf(given, io.cwd, codeIfMissing);
  await requireDirectory(place, codeIfMissing);
  const { directory } = place;
  const file = await readSettings(directory);
  const { values, troubles } = resolveSettings({ flags, env: io.env, file, cwd: io.cwd, directory });
  if (troubles.length > 0) throw new CommandError(exitCode.usage, troubles.join("\n"));
  const api = await loadApi(values.list("descriptors"));
  return { ...(await createSource(place, values, { api, io }).load()), api, place };
}
