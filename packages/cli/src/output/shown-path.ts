import { isAbsolute, relative } from "node:path";

/** As people typed it, or nearly: relative to where they are, unless it is somewhere else. */
export function shownPath(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  if (shown === "") return ".";
  return shown.startsWith("..") || isAbsolute(shown) ? path : shown;
}
