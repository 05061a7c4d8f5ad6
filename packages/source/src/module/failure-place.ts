import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ModuleFailure } from "./messages.ts";

/** A place in a file of the module graph. */
export interface FailurePlace {
  readonly url: string;
  readonly line: number;
  readonly column?: number;
}

/** The first place in the module graph that a failure names; undefined if it names none. */
export async function placeOf(failure: ModuleFailure, urls: ReadonlySet<string>): Promise<FailurePlace | undefined> {
  const { at, stack = "", isSyntax } = failure;
  if (at !== undefined) return at;
  const shown = placeShown(stack, urls) ?? placeInStack(stack, urls);
  if (shown !== undefined || !isSyntax) return shown;
  // The engine prints the place of a JavaScript syntax error on stderr only.
  for (const url of [...urls].reverse()) {
    const found = placeShown(await check(url), urls);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Parses `file:///a/b.ts:3`, followed by source lines and a `^` below the place. */
function placeShown(text: string, urls: ReadonlySet<string>): FailurePlace | undefined {
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const [, url, number] = /^((?:file:\/\/|\/).*):(\d+)$/.exec(line) ?? [];
    const known = url === undefined ? undefined : knownUrl(url, urls);
    if (known === undefined) continue;
    const mark = lines.slice(index + 1).find((one) => /^\s*\^+\s*$/.test(one));
    const column = mark === undefined ? undefined : mark.indexOf("^") + 1;
    return { url: known, line: Number(number), ...(column !== undefined && { column }) };
  }
  return undefined;
}

/** Parses a stack frame: `at f (file:///a/b.ts:3:7)`. */
function placeInStack(stack: string, urls: ReadonlySet<string>): FailurePlace | undefined {
  for (const [, url = "", line, column] of stack.matchAll(/((?:file:\/\/|\/)[^()\n]*?):(\d+):(\d+)\)?$/gm)) {
    const known = knownUrl(url, urls);
    if (known !== undefined) return { url: known, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** The URL of a file that an engine names by URL or by path. */
function knownUrl(text: string, urls: ReadonlySet<string>): string | undefined {
  return [...urls].find((url) => url === text || (url.startsWith("file:") && fileURLToPath(url) === text));
}

/** The output of `node --check` for a file. */
function check(url: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["--check", fileURLToPath(url)], (_, _stdout, stderr) => resolve(stderr));
  });
}
