import { FollowedSettings } from "./directory/followed-settings.ts";
import type { SettingsContent } from "./settings/settings-file.ts";

/** Reads only the settings of a directory, which decide how to read the rest. Empty without `xdskit.yaml`. */
export async function readSettings(directory: string): Promise<SettingsContent> {
  const settings = new FollowedSettings(directory);
  await settings.refresh();
  return settings.content;
}
