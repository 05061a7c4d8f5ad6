import { isAbsolute, relative } from "node:path";

/** A path relative to the working directory; unchanged if it is outside of it. */
export function shownPath(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  if (shown === "") return ".";
  return shown.startsWith("..") || isAbsolute(shown) ? path : shown;
}
