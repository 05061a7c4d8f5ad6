import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ModuleFailure } from "./messages.ts";

/** Where in the files of a module something is wrong. */
export interface FailurePlace {
  readonly url: string;
  readonly line: number;
  readonly column?: number;
}

/** The first place in one of these files that a failure names; undefined where it names none. */
export async function placeOf(failure: ModuleFailure, urls: ReadonlySet<string>): Promise<FailurePlace | undefined> {
  const { at, stack = "", isSyntax } = failure;
  if (at !== undefined) return at;
  const shown = placeShown(stack, urls) ?? placeInStack(stack, urls);
  if (shown !== undefined || !isSyntax) return shown;
  // Of JavaScript that cannot be parsed, an engine tells the place only to whoever reads its standard error.
  for (const url of [...urls].reverse()) {
    const found = placeShown(await check(url), urls);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `file:///a/b.ts:3`, then lines of the file, and `^` below what is meant. */
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

/** `at f (file:///a/b.ts:3:7)`. */
function placeInStack(stack: string, urls: ReadonlySet<string>): FailurePlace | undefined {
  for (const [, url = "", line, column] of stack.matchAll(/((?:file:\/\/|\/)[^()\n]*?):(\d+):(\d+)\)?$/gm)) {
    const known = knownUrl(url, urls);
    if (known !== undefined) return { url: known, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** Engines name files by URL or by path, and tell which import they loaded them for. */
function knownUrl(text: string, urls: ReadonlySet<string>): string | undefined {
  return [...urls].find((url) => url === text || (url.startsWith("file:") && fileURLToPath(url) === text));
}

/** What Node says of the syntax of a file. */
function check(url: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["--check", fileURLToPath(url)], (_, _stdout, stderr) => resolve(stderr));
  });
}
