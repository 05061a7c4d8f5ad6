import { join } from "node:path";
import { readWholeFile } from "./directory/read-file.ts";
import { settingsFile } from "./layout.ts";
import { noSettings, readSettingsFile, type SettingsContent } from "./settings/settings-file.ts";

const MAX_SETTINGS_BYTES = 1024 ** 2;

/**
 * The settings of a directory alone, before anything else of it is read: they say how to. Without an `xdskit.yaml`,
 * none. A file that is being written to is read again until it is not.
 */
export async function readSettings(directory: string): Promise<SettingsContent> {
  for (;;) {
    const reading = await readWholeFile(join(directory, settingsFile), settingsFile, MAX_SETTINGS_BYTES);
    if (reading.kind === "read") return readSettingsFile(reading.bytes);
    if (reading.kind === "gone") return noSettings;
    if (reading.kind === "refused") return { ...noSettings, problems: [reading.problem] };
  }
}
