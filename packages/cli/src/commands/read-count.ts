import { CommandError, exitCode } from "../exit-code.ts";

/** Reads the whole number of a flag; throws a `CommandError` unless it is from `least` to `most`. */
export function readCount(
  flag: string,
  text: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER }: { readonly least?: number; readonly most?: number } = {},
): number {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  const range = most < Number.MAX_SAFE_INTEGER ? ` from ${least} to ${most}` : least > 0 ? ` from ${least}` : "";
  throw new CommandError(exitCode.usage, `${flag}: expected a whole number${range}, got "${text}"`);
}
