import pc from "picocolors";
import type { Io, Output } from "../io.ts";
import { understandsEscapes } from "../terminals.ts";

/** Functions that colour text, or return it unchanged. */
export type Colors = ReturnType<typeof pc.createColors>;

/**
 * Chooses colours: `--no-color` and NO_COLOR disable them, FORCE_COLOR enables them; by default, only a terminal has
 * them.
 */
export function chooseColors(output: Output, env: Io["env"], flag: "never" | "auto"): Colors {
  return pc.createColors(isColored(output, env, flag));
}

function isColored(output: Output, env: Io["env"], flag: "never" | "auto"): boolean {
  if (flag === "never" || isSet(env["NO_COLOR"])) return false;
  if (isSet(env["FORCE_COLOR"])) return env["FORCE_COLOR"] !== "0";
  return understandsEscapes(output, env);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
