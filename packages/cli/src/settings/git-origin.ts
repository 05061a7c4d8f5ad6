import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const GIT_WITHIN_MS = 2_000;
/** The answer is used again for so long: many changes may come at once. */
const FRESH_MS = 1_000;

/** Where the content of a directory comes from. */
export interface SourceOrigin {
  readonly author: string | undefined;
  readonly message: string | undefined;
  readonly git?: { readonly commit: string; readonly isDirty: boolean };
}

/**
 * Creates a function that tells whose content a directory has: in a clean git work tree that of the author of the last
 * commit that touched it, else that of the local user. Without git, or if it fails, there is no commit.
 */
export function createOriginReader(directory: string): () => Promise<SourceOrigin> {
  let known: { readonly atMs: number; readonly origin: Promise<SourceOrigin> } | undefined;
  return () => {
    if (known === undefined || performance.now() - known.atMs > FRESH_MS)
      known = { atMs: performance.now(), origin: readOrigin(directory) };
    return known.origin;
  };
}

async function readOrigin(directory: string): Promise<SourceOrigin> {
  const local = { author: localUser(), message: undefined };
  if (!isInWorkTree(directory)) return local;
  try {
    const last = await git(directory, "log", "-1", "--format=%H%n%an%n%s", "--", ".");
    const [commit, author, message] = last.split("\n");
    if (commit === undefined || commit === "") return local;
    const isDirty = (await git(directory, "status", "--porcelain", "--", ".")) !== "";
    return { ...(isDirty ? local : { author, message }), git: { commit, isDirty } };
  } catch {
    // No git, no commit, or not to be read by this user.
    return local;
  }
}

async function git(directory: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: directory, timeout: GIT_WITHIN_MS, env: { ...process.env, GIT_OPTIONAL_LOCKS: "0" } };
  return (await run("git", args, options)).stdout.trim();
}

function isInWorkTree(directory: string): boolean {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (dirname(at) === at) return false;
  }
}

function localUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // A container's user need not have a name.
    return undefined;
  }
}
