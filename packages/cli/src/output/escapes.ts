import type { Io, Output } from "../io.ts";

/** Whether an output is a terminal that understands escape sequences: TERM=dumb is one that does not. */
export function understandsEscapes({ isTerminal }: Pick<Output, "isTerminal">, env: Io["env"]): boolean {
  return isTerminal && env["TERM"] !== "dumb";
}
