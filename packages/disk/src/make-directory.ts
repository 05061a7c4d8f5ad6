import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isSystemError } from "./system-error.ts";

/**
 * Creates a directory and its missing parents, each with `mode`, unless it exists. Throws a system error. Node.js's
 * `recursive` never returns where a directory cannot have children, such as `/proc`.
 */
export function makeDirectory(path: string, mode?: number): void {
  const whole = resolve(path);
  if (isDirectory(whole)) return;
  try {
    mkdirSync(whole, mode);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (isSystemError(error, "EEXIST") && isDirectory(whole)) return;
    const parent = dirname(whole);
    if (!isSystemError(error, "ENOENT") || isDirectory(parent)) throw error;
    makeDirectory(parent, mode);
    makeDirectory(whole, mode);
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Creating it will report the reason.
    return false;
  }
}
