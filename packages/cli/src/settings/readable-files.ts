import { access, constants } from "node:fs/promises";
import { resolve } from "node:path";
import { type ListenerSettings, type SettingKey, settingsFile } from "@xdskit/source";
import { CommandError, exitCode } from "../exit-code.ts";
import { isWithin } from "./is-within.ts";
import type { SettingValues } from "./resolve-settings.ts";

/** Settings that name files which must be readable at the start. */
const FILES: readonly SettingKey[] = [
  "descriptors",
  ...(["tls.cert", "tls.key", "tls.ca", "tls.crl"] as const),
  ...(["admin-tls.cert", "admin-tls.key", "admin-tls.ca", "admin-tls.crl"] as const),
];

/**
 * Throws a `CommandError` that lists every unreadable file, with the setting that names it. `within` is for checks on
 * another machine than the server's: of files outside the directory nothing can be said there.
 */
export async function requireReadableFiles(
  values: SettingValues,
  listeners: readonly ListenerSettings[],
  directory: string,
  files: "all" | "within" = "all",
): Promise<void> {
  const ofServer = FILES.flatMap((key) => {
    return filesOf(values, key).map((file) => ({ from: values.originOf(key) ?? key, file }));
  });
  const ofListeners = listeners.flatMap(({ tls, line, column }) => {
    const { cert, key, ca, crl } = typeof tls === "object" ? tls : {};
    const files = [cert, key, ca, crl].filter((file) => file !== undefined);
    return files.map((file) => ({
      from: `${settingsFile}:${line}:${column}: listeners`,
      file: resolve(directory, file),
    }));
  });
  const named = [...ofServer, ...ofListeners].filter(({ file }) => files === "all" || isWithin(directory, file));
  const troubles = await Promise.all(named.map(async ({ from, file }) => ({ from, why: await whyUnreadable(file) })));
  const lines = troubles.filter(({ why }) => why !== undefined).map(({ from, why }) => `${from}: ${why}`);
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
