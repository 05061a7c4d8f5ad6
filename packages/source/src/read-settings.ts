import { join } from "node:path";
import { readSettledFile } from "./directory/read-file.ts";
import { settingsFile } from "./layout.ts";
import { noSettings, readSettingsFile, type SettingsContent } from "./settings/settings-file.ts";

const MAX_SETTINGS_BYTES = 1024 ** 2;

/** Reads only the settings of a directory, which decide how to read the rest. Empty without `xdskit.yaml`. */
export async function readSettings(directory: string): Promise<SettingsContent> {
  const reading = await readSettledFile(join(directory, settingsFile), settingsFile, MAX_SETTINGS_BYTES);
  if (reading.kind === "read") return readSettingsFile(reading.bytes);
  return reading.kind === "gone" ? noSettings : { ...noSettings, problems: [reading.problem] };
}
