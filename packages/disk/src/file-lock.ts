import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { formatOwn, type Holder, isAlive, readHolder } from "./holder.ts";
import { isSystemError } from "./system-error.ts";

/** A lock that is ours until it is released. When the process ends without that, it is nobody's. */
export interface AcquiredFileLock {
  readonly kind: "acquired";
  release(): void;
}

/** Somebody who lives holds it. */
export interface HeldFileLock {
  readonly kind: "held";
  /** The process id of the holder, which may be our own. Undefined for a moment in which it cannot be read. */
  readonly pid: number | undefined;
}

const TOKEN_BYTES = 8;
/** A draft or a claim. */
const LEFTOVER = /^\.([0-9a-f]{16}(\.new)?|\d+-\d+)$/;

/**
 * Takes the lock that is a file at `path`; its directory must be there. Does not wait. Throws a system error if there can be no lock. Processes that do
 * not see each other, such as those of two containers or machines, do not keep each other out.
 *
 * What is in the lock stands there whole, from the first moment. The lock of one that was killed is claimed: a claim is a file that is
 * named after the token of the one that is gone. Only one can make that file, and the token never comes back, so nobody who is late takes away the lock of the
 * next one. Who was killed with a claim is claimed after in turn. A claim counts if the lock is still the one that it was made for.
 */
export function acquireFileLock(path: string): AcquiredFileLock | HeldFileLock {
  const lock = resolve(path);
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const draft = `${lock}.${token}.new`;
  writeDraft(draft, formatOwn(token));
  try {
    const other = contend(lock, draft);
    if (other !== undefined) return { kind: "held", pid: other.process?.pid };
  } finally {
    rmSync(draft, { force: true });
  }
  removeLeftovers(lock);
  return {
    kind: "acquired",
    release() {
      if (readHolder(lock)?.token === token) rmSync(lock, { force: true });
    },
  };
}

/** Undefined when the lock is ours, otherwise who holds it. Each round that does not end is one in which somebody else got further. */
function contend(lock: string, draft: string): Holder | undefined {
  for (;;) {
    if (place(draft, lock)) return undefined;
    const first = readHolder(lock);
    if (first === undefined) continue;
    const last = lastClaim(lock, first);
    if (last.isAlive) return last.holder;
    const claim = claimAfter(lock, last.holder);
    if (!place(draft, claim)) continue;
    if (readHolder(lock)?.token === first.token) {
      renameSync(claim, lock);
      return undefined;
    }
    rmSync(claim, { force: true });
  }
}

/** Who lives, of the holder and those who claimed one after the other; if nobody does, the last one. */
function lastClaim(lock: string, first: Holder): { readonly holder: Holder; readonly isAlive: boolean } {
  let holder = first;
  let path = lock;
  while (!isAlive(holder, path)) {
    const claim = claimAfter(lock, holder);
    const next = readHolder(claim);
    if (next === undefined) return { holder, isAlive: false };
    holder = next;
    path = claim;
  }
  return { holder, isAlive: true };
}

function claimAfter(lock: string, { token }: Holder): string {
  return `${lock}.${token}`;
}

/** Whole, also after a loss of power. */
function writeDraft(path: string, text: string): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Gives the draft another name; false if that is taken. */
function place(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false;
    if (!isSystemError(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw error;
  }
  // A file system without hard links.
  try {
    copyFileSync(draft, path, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false;
    throw error;
  }
}

/** Removes what others left behind that were killed on their way to the lock, which is ours. */
function removeLeftovers(lock: string): void {
  const name = basename(lock);
  for (const entry of readdirSync(dirname(lock))) {
    if (!entry.startsWith(name) || !LEFTOVER.test(entry.slice(name.length))) continue;
    const path = join(dirname(lock), entry);
    const holder = readHolder(path);
    if (holder !== undefined && !isAlive(holder, path)) rmSync(path, { force: true });
  }
}
