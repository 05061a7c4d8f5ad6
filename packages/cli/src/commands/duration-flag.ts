import { readSettingValue } from "@xdskit/source";
import { InvalidArgumentError } from "commander";

/** Reads `500ms`, `1.5s`, `2m` as milliseconds, for a flag that is no setting. */
export function readDuration(text: string): number {
  const row = { key: "limits.keepalive", kind: "duration", default: undefined, doc: "" } as const;
  const { value, trouble } = readSettingValue(row, text);
  if (typeof value === "number") return value;
  throw new InvalidArgumentError(trouble?.hint ?? "expected a duration");
}
