import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SettingsContent } from "@xdskit/source";
import { requireDirectory, type SourcePlace } from "../../settings/source-place.ts";
import { replaceStateFile } from "./state-file.ts";

type FileSettings = Pick<SettingsContent, "settings" | "listeners">;

const NAME = "settings.json";
const NO_SETTINGS = textOf({ settings: {}, listeners: [] });

/**
 * Throws a `CommandError` if there is no directory, unless the server served it before and its settings were all given
 * otherwise: then it serves what it served, and waits for the directory.
 */
export async function requireServable(place: SourcePlace, stateDir: string | undefined): Promise<void> {
  if ((await stat(place.directory).catch(() => undefined)) !== undefined) return;
  const known =
    stateDir === undefined ? undefined : await readFile(join(stateDir, NAME), "utf8").catch(() => undefined);
  // Without the settings that were in the directory it would listen otherwise, for one without TLS.
  if (known !== NO_SETTINGS) await requireDirectory(place);
}

/** Remembers which settings were in the directory. Without it, nothing but a missing directory is handled otherwise. */
export async function rememberSettings(stateDir: string | undefined, file: FileSettings): Promise<void> {
  await replaceStateFile(stateDir, NAME, textOf(file));
}

function textOf({ settings, listeners }: FileSettings): string {
  return `${JSON.stringify({ settings, listeners })}\n`;
}
