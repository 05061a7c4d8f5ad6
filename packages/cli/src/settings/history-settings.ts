import type { SettingValues } from "./resolve-settings.ts";

/** What the settings say about how much history is kept. */
export function retentionOf(values: SettingValues): { readonly revisions?: number; readonly days?: number } {
  const [revisions, days] = [values.number("history.revisions"), values.number("history.days")];
  return { ...(revisions !== undefined && { revisions }), ...(days !== undefined && { days }) };
}
