import type { Colors } from "../output/color.ts";

/** The colour of a delivery state: green, red or yellow. */
export function fateColor(state: string, colors: Colors): (text: string) => string {
  if (state === "acked" || state === "sent") return colors.green;
  if (state === "nacked") return colors.red;
  return colors.yellow;
}
