import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isSystemError } from "./system-error.ts";

/**
 * Makes a directory and those above it that are missing, each with `mode`, unless it is there. Throws a system error. Where a directory cannot have
 * others in it, such as `/proc`, the one of Node.js (`recursive`) tries for ever.
 */
export function makeDirectory(path: string, mode?: number): void {
  const whole = resolve(path);
  if (isDirectory(whole)) return;
  try {
    mkdirSync(whole, mode);
  } catch (error) {
    // Somebody else may have made it meanwhile.
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
    // Whatever is wrong with it, whoever makes it will be told.
    return false;
  }
}
