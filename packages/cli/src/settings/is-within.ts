import { isAbsolute, relative } from "node:path";

/** Whether a path is the directory, or inside it. Both are absolute; links are not followed. */
export function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return !(/^\.\.(?:[\\/]|$)/.test(way) || isAbsolute(way));
}
