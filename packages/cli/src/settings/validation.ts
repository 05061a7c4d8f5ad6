import type { ValidationLevel } from "@xdskit/source";
import type { SettingValues } from "./resolve-settings.ts";

/** How validation failures are treated; `warn` unless set otherwise. */
export function validationOf(values: SettingValues): ValidationLevel {
  const levels: readonly ValidationLevel[] = ["off", "warn", "reject"];
  return levels.find((level) => level === values.text("validation")) ?? "warn";
}
