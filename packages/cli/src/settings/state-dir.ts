import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { SettingValues } from "./resolve-settings.ts";

/**
 * The directory for state kept across restarts: as set, else a directory per source and listen address in the system's
 * state folder, since two servers of one source cannot share it. Undefined if it is off or there is no such folder.
 */
export function stateDirOf(
  values: SettingValues,
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
): string | undefined {
  const given = values.text("state-dir");
  if (given !== undefined) return given === "off" ? undefined : given;
  const folder = stateFolder(env);
  if (folder === undefined) return undefined;
  const digest = createHash("sha256")
    .update(JSON.stringify([directory, values.text("listen")]))
    .digest("hex");
  return join(folder, `${basename(directory)}-${digest.slice(0, 12)}`);
}

/** The state folder: of systemd's service, else of XDG, else XDG's default in HOME. */
function stateFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const [ofService = ""] = (env["STATE_DIRECTORY"] ?? "").split(":");
  if (ofService !== "") return ofService;
  const ofUser = env["XDG_STATE_HOME"] ?? "";
  if (ofUser !== "") return join(ofUser, "xdskit");
  const home = env["HOME"] ?? "";
  return home === "" ? undefined : join(home, ".local", "state", "xdskit");
}
