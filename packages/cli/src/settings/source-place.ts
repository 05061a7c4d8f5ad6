import { stat } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { shownPath } from "../output/shown-path.ts";

/** A directory or module to read resources from. */
export interface SourcePlace {
  /** The directory to read, or the one of the module; it may contain `xdskit.yaml`. */
  readonly directory: string;
  /** The path of the module; undefined for a directory. */
  readonly module: string | undefined;
  /** The directory as problems show it. */
  readonly shownDirectory: string;
  /** The directory or module as messages show it. */
  readonly shown: string;
}

const MODULES = [".ts", ".mts", ".js", ".mjs"];

/**
 * Resolves a path to a directory, which need not exist, or a module. Throws a `CommandError` for an empty path, any other
 * file, and a module that does not exist, which ends with `codeIfMissing`.
 */
export async function sourcePlaceOf(
  given: string,
  cwd: string,
  codeIfMissing: ExitCode = exitCode.problems,
): Promise<SourcePlace> {
  if (given === "") throw new CommandError(exitCode.usage, 'expected a directory or a module, got ""');
  const path = resolve(cwd, given);
  const shown = shownPath(path, cwd);
  const found = await stat(path).catch(() => undefined);
  const isModule = MODULES.includes(extname(path));
  if (found?.isDirectory() === true || (found === undefined && !isModule)) {
    return { directory: path, module: undefined, shownDirectory: shown, shown };
  }
  const directory = dirname(path);
  if (isModule && found === undefined) throw new CommandError(codeIfMissing, `there is no file ${given}`);
  if (isModule) return { directory, module: path, shownDirectory: shownPath(directory, cwd), shown };
  throw new CommandError(
    exitCode.usage,
    `expected a directory or a module (${MODULES.join(", ")}), ${given} is a file`,
    `its directory is ${dirname(given)}`,
  );
}

/** Throws a `CommandError` if there is no directory: a server would wait for a mistyped one for ever. */
export async function requireDirectory(
  { directory, shown }: SourcePlace,
  codeIfMissing: ExitCode = exitCode.problems,
): Promise<void> {
  if ((await stat(directory).catch(() => undefined)) !== undefined) return;
  throw new CommandError(codeIfMissing, `there is no directory ${shown}`, "create it, or give another path");
}
