import { stat } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";
import { CommandError, exitCode } from "../exit-code.ts";
import { shownPath } from "../output/shown-path.ts";

/** What resources are read from. */
export interface SourcePlace {
  /** The directory that is read, or in which the module is; it may hold an `xdskit.yaml`. */
  readonly directory: string;
  /** Path of the module; undefined where a directory is read. */
  readonly module: string | undefined;
  /** The directory as problems show it. */
  readonly shownDirectory: string;
  /** The directory or the module as people call it. */
  readonly shown: string;
}

const MODULES = [".ts", ".mts", ".js", ".mjs"];

/** What a caller means by a path: a directory, also one that is not there yet, or a module. Throws a `CommandError` for any other file. */
export async function sourcePlaceOf(given: string, cwd: string): Promise<SourcePlace> {
  const path = resolve(cwd, given);
  const shown = shownPath(path, cwd);
  const found = await stat(path).catch(() => undefined);
  const isModule = MODULES.includes(extname(path));
  if (found?.isDirectory() === true || (found === undefined && !isModule)) {
    return { directory: path, module: undefined, shownDirectory: shown, shown };
  }
  const directory = dirname(path);
  if (isModule) return { directory, module: path, shownDirectory: shownPath(directory, cwd), shown };
  throw new CommandError(
    exitCode.usage,
    `expected a directory or a module (${MODULES.join(", ")}), ${given} is a file`,
    `its directory is ${dirname(given)}`,
  );
}
