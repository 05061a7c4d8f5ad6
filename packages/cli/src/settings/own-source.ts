import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isWithin } from "./is-within.ts";
import type { SourcePlace } from "./source-place.ts";

/** What is wrong with an output directory that `isInSource`, and what to do. */
export const ownSource = {
  message: "the output directory is inside the directory to read",
  hint: "write to another one",
} as const;

/**
 * Whether a directory to write is inside the directory to read, so that its files would be read as resources. Symbolic
 * links are followed; the directory need not exist. Never true for a module.
 */
export async function isInSource(
  { directory, module }: Pick<SourcePlace, "directory" | "module">,
  out: string,
): Promise<boolean> {
  return module === undefined && isWithin(await realPathOf(directory), await realPathOf(out));
}

/** The path without symbolic links; the part that does not exist is kept. */
async function realPathOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realPathOf(dirname(path)), basename(path));
}
