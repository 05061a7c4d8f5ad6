import { readSettingValue } from "@xdskit/source/settings";
import { CommandError, exitCode } from "../exit-code.ts";

/**
 * Reads a duration such as `500ms`, `1.5s` or `2m` as milliseconds, for a flag that is not a setting. Throws a
 * `CommandError`.
 */
export function readDuration(flag: string, text: string): number {
  // Waits are cut to what a timer can do.
  const bounds = { max: Number.MAX_SAFE_INTEGER };
  const row = { key: "limits.keepalive", kind: "duration", default: undefined, doc: "", bounds } as const;
  const { value, trouble } = readSettingValue(row, text);
  if (typeof value === "number") return value;
  throw new CommandError(exitCode.usage, `${flag}: ${trouble?.message ?? "expected a duration"}`, trouble?.hint);
}
