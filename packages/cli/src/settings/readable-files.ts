import { access, constants } from "node:fs/promises";
import type { SettingKey } from "@xdskit/source";
import { CommandError, exitCode } from "../exit-code.ts";
import type { SettingValues } from "./resolve-settings.ts";

/** Settings that name files which must be there at the start. */
const FILES: readonly SettingKey[] = ["descriptors", "tls.cert", "tls.key", "tls.ca"];

/** Throws a `CommandError` that tells every file which cannot be read, with the setting that names it. */
export async function requireReadableFiles(values: SettingValues): Promise<void> {
  const named = FILES.flatMap((key) => filesOf(values, key).map((file) => ({ key, file })));
  const troubles = await Promise.all(named.map(async ({ key, file }) => ({ key, why: await whyUnreadable(file) })));
  const lines = troubles
    .filter(({ why }) => why !== undefined)
    .map(({ key, why }) => `${values.originOf(key) ?? key}: ${why}`);
  if (lines.length > 0) throw new CommandError(exitCode.problems, lines.join("\n"));
}

function filesOf(values: SettingValues, key: SettingKey): readonly string[] {
  const file = values.text(key);
  return file === undefined ? values.list(key) : [file];
}

async function whyUnreadable(file: string): Promise<string | undefined> {
  try {
    await access(file, constants.R_OK);
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}
