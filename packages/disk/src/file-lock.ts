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
import { formatOwn, type Holder, isAlive, isVisible, isYoung, readHolder } from "./holder.ts";
import { isPresent, processNamespace, showPresence } from "./presence.ts";
import { isSystemError } from "./system-error.ts";

/** A lock that is ours until it is released. When the process ends without that, it is nobody's. */
export interface AcquiredFileLock {
  readonly kind: "acquired";
  release(): void;
}

/** Somebody who lives holds it. */
export interface HeldFileLock {
  readonly kind: "held";
  /**
   * The process id of the holder, which may be our own. Undefined for a moment in which it cannot be read, and of one in another
   * container, where it would be somebody else's here.
   */
  readonly pid: number | undefined;
}

const TOKEN_BYTES = 8;
/** A draft or a claim. */
const LEFTOVER = /^\.([0-9a-f]{16}(\.new)?|\d+-\d+)$/;
const SIGN = /^\.[0-9a-f]{16}\.live$/;

/**
 * Takes the lock that is a file at `path`; its directory must be there. Does not wait. Throws a system error if there can be no lock. Processes of two
 * machines do not keep each other out. Those of two containers on one machine do, by a socket beside the lock that its holder listens at, unless the
 * file system bears none.
 *
 * What is in the lock stands there whole, from the first moment. The lock of one that was killed is claimed: a claim is a file that is
 * named after the token of the one that is gone. Only one can make that file, and the token never comes back, so nobody who is late takes away the lock of the
 * next one. Who was killed with a claim is claimed after in turn. A claim counts if the lock is still the one that it was made for.
 */
export function acquireFileLock(path: string): AcquiredFileLock | HeldFileLock {
  const lock = resolve(path);
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const draft = `${lock}.${token}.new`;
  const sign = signOf(lock, token);
  // Where the system does not tell which processes see each other, each is taken to see all.
  const presence = processNamespace() === undefined ? undefined : showPresence(sign);
  const leave = (): void => {
    presence?.end();
    rmSync(sign, { force: true });
  };
  try {
    writeDraft(draft, formatOwn(token, presence !== undefined));
    const other = contend(lock, draft);
    if (other !== undefined) {
      leave();
      return { kind: "held", pid: pidOf(other) };
    }
  } catch (error) {
    leave();
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  removeLeftovers(lock);
  return {
    kind: "acquired",
    release() {
      if (readHolder(lock)?.token === token) rmSync(lock, { force: true });
      leave();
    },
  };
}

function signOf(lock: string, token: string): string {
  return `${lock}.${token}.live`;
}

function pidOf({ process }: Holder): number | undefined {
  return process !== undefined && isVisible(process) ? process.pid : undefined;
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
  while (!isAlive(holder, path, signOf(lock, holder.token))) {
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
    if (!entry.startsWith(name)) continue;
    const path = join(dirname(lock), entry);
    if (isLeftover(lock, path, entry.slice(name.length))) rmSync(path, { force: true });
  }
}

function isLeftover(lock: string, path: string, suffix: string): boolean {
  // One that was made just now may be about to be listened at.
  if (SIGN.test(suffix)) return !isYoung(path) && !isPresent(path);
  if (!LEFTOVER.test(suffix)) return false;
  const holder = readHolder(path);
  return holder !== undefined && !isAlive(holder, path, signOf(lock, holder.token));
}
