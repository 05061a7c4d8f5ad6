import type { Colors } from "../../output/color.ts";
import { oneLine } from "../../output/one-line.ts";
import type { FieldDifference } from "./compare.ts";

/** One field, before and after. */
export function formatField({ path, a, b }: FieldDifference, colors: Colors): string {
  const shown = (value: unknown): string => (value === undefined ? "(none)" : oneLine(JSON.stringify(value)));
  return `      ${oneLine(path)}: ${colors.red(shown(a))} -> ${colors.green(shown(b))}`;
}
