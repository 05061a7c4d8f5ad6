import { readFileSync } from "node:fs";
import { CommandError, exitCode } from "./exit-code.ts";

/** With fewer, the modules of a command cannot all be loaded: they are read at the same time. */
const LOADED_WITH = 256;
/** What a server opens beside connections, and much to spare: reading a large directory takes some dozens. */
const FOR_FILES_AT_MOST = 512;

/** How many files this process may have open; undefined where the system does not tell (all but Linux). */
export function openFileLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    // Not Linux, or no free descriptor.
    return undefined;
  }
}

/**
 * How many connections of clients this process can have: not as many as it may have open files, since without any left it
 * could read no change, and record none. Undefined where the system does not tell its limit.
 */
export function mostConnections(limit: number | undefined = openFileLimit()): number | undefined {
  return limit === undefined ? undefined : limit - Math.min(Math.ceil(limit / 4), FOR_FILES_AT_MOST);
}

/** The error of a command that ran out of the files that it may have open; undefined: `cause` is something else. */
export function tooManyOpenFiles(cause: unknown, limit: number | undefined): CommandError | undefined {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const isLacking = code === "EMFILE" || code === "ENFILE";
  // Node.js takes a package whose files it cannot open for one that is not there.
  const isUnloaded = code === "ERR_MODULE_NOT_FOUND" && limit !== undefined && limit < LOADED_WITH;
  if (!isLacking && !isUnloaded) return undefined;
  const allowed = limit === undefined ? "" : `: this process may have ${limit}`;
  return new CommandError(exitCode.problems, `too many open files${allowed}`, RAISE_LIMIT);
}

const RAISE_LIMIT = "raise the limit: `ulimit -n 65536`, or LimitNOFILE= of systemd";
