import { type Problem, type SettingKey, settingsFile } from "@xdskit/source";
import { isInSource, ownSource } from "./own-source.ts";
import type { SettingTrouble, SettingValues } from "./resolve-settings.ts";
import type { SourcePlace } from "./source-place.ts";

/** Mistakes in settings whose values are valid, but not together or not with the source. */
export interface SettingConflicts {
  /** Those of settings in `xdskit.yaml`. */
  readonly problems: readonly Problem[];
  /** Those of flags and variables. */
  readonly troubles: readonly SettingTrouble[];
}

interface Conflict {
  /** One of the settings that do not fit, which was set. */
  readonly key: SettingKey;
  readonly message: string;
  readonly hint: string;
}

/** Finds the settings with which no server can start. Without a source only a store is followed. */
export async function findConflicts(
  values: SettingValues,
  source: Pick<SourcePlace, "directory" | "module"> | undefined,
): Promise<SettingConflicts> {
  const conflicts = await exportConflicts(values, source);
  const problems: Problem[] = [];
  const troubles: SettingTrouble[] = [];
  for (const { key, message, hint } of conflicts) {
    const place = values.placeOf(key);
    if (place === undefined) troubles.push(`${values.originOf(key) ?? key}: ${message} (${hint})`);
    else
      problems.push({
        ...{ code: "SETTING_INVALID", severity: "error", file: settingsFile, ...place, path: key },
        ...{ message, hint },
      });
  }
  return { problems, troubles };
}

async function exportConflicts(
  values: SettingValues,
  source: Pick<SourcePlace, "directory" | "module"> | undefined,
): Promise<readonly Conflict[]> {
  const out = values.text("export.directory");
  if (source === undefined || out === undefined || !(await isInSource(source, out))) return [];
  return [{ key: "export.directory", ...ownSource }];
}
