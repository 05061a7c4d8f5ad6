import type { Colors } from "../output/color.ts";

/** How the state of a delivery looks: good, bad, or still open. */
export function fateColor(state: string, colors: Colors): (text: string) => string {
  if (state === "acked" || state === "sent") return colors.green;
  if (state === "nacked") return colors.red;
  return colors.yellow;
}
