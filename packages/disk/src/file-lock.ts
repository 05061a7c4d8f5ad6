import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { formatOwn, type Holder, isAlive, isVisible, isYoung, readHolder } from "./holder.ts";
import { isPresent, type Presence, processNamespace, showPresence } from "./presence.ts";
import { isAnySystemError, isSystemError } from "./system-error.ts";

/** A lock that this process holds until it releases it or ends. */
export interface AcquiredFileLock {
  readonly kind: "acquired";
  /** Never throws. A file that cannot be removed, as on a read-only file system, holds no lock once this process ends. */
  release(): void;
}

/** The lock is held by a live process. */
export interface HeldFileLock {
  readonly kind: "held";
  /**
   * The process id of the holder, which may be this process. Undefined if it cannot be read at the moment, or the
   * holder is in another container, where ids have another meaning.
   */
  readonly pid: number | undefined;
}

const TOKEN_BYTES = 8;
/** A draft or a claim. */
const LEFTOVER = /^\.([0-9a-f]{16}(\.new)?|\d+-\d+)$/;
const SIGN = /^\.([0-9a-f]{16})\.live$/;

/**
 * Takes the lock file at `path`, whose directory must exist. Does not wait. Throws a system error if locking is
 * impossible. Processes on different machines do not exclude each other. Those in containers of one machine do, through
 * a socket beside the lock on which the holder listens, unless the file system does not support sockets. While that
 * socket is there, the lock is held even if somebody removes its file.
 *
 * The content of the lock is complete from the first moment. The lock of a killed process is claimed with a file named
 * after the holder's token. Only one process can create that file, and tokens are unique, so a latecomer never takes
 * the lock of the next holder. A claim of a killed process is claimed in turn. A claim counts only if the lock is still
 * the one it was made for.
 */
export function acquireFileLock(path: string): AcquiredFileLock | HeldFileLock {
  const lock = resolve(path);
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const draft = draftOf(lock, token);
  const sign = signOf(lock, token);
  // Where the system has no process namespaces, every process is assumed to see all others.
  let presence: Presence | undefined;
  const identify = (): string => {
    if (processNamespace() !== undefined) presence = showPresence(sign);
    return formatOwn(token, presence !== undefined);
  };
  const leave = (): void => {
    presence?.end();
    rmSync(sign, { force: true });
  };
  try {
    writeDraft(draft, identify);
    const other = contend(lock, draft, token);
    if (other !== undefined) {
      leave();
      return { kind: "held", pid: pidOf(other) };
    }
  } catch (error) {
    // Whatever failed after the lock was placed: this process is alive, so nobody else could take it.
    attempt(() => removeOwn(lock, token));
    attempt(leave);
    throw error;
  } finally {
    attempt(() => rmSync(draft, { force: true }));
  }
  attempt(() => removeLeftovers(lock));
  return {
    kind: "acquired",
    release() {
      // Each on its own: the directory may be gone, or its file system read-only or full.
      attempt(() => closeSync(openSync(draft, "w", 0o600)));
      attempt(() => removeOwn(lock, token));
      attempt(leave);
      attempt(() => rmSync(draft, { force: true }));
    },
  };
}

function attempt(step: () => void): void {
  try {
    step();
  } catch (error) {
    if (!isAnySystemError(error)) throw error;
  }
}

function removeOwn(lock: string, token: string): void {
  if (readHolder(lock)?.token === token) rmSync(lock, { force: true });
}

function draftOf(lock: string, token: string): string {
  return `${lock}.${token}.new`;
}

function signOf(lock: string, token: string): string {
  return `${lock}.${token}.live`;
}

function pidOf({ process }: Holder): number | undefined {
  return process !== undefined && isVisible(process) ? process.pid : undefined;
}

/**
 * Undefined when this process got the lock, otherwise its holder. Every further round means that another process made
 * progress.
 */
function contend(lock: string, draft: string, token: string): Holder | undefined {
  for (;;) {
    if (place(draft, lock)) {
      const unseen = holderWithoutFile(lock);
      if (unseen !== undefined) removeOwn(lock, token);
      return unseen;
    }
    const first = readHolder(lock);
    if (first === undefined) {
      refuseLink(lock);
      continue;
    }
    const last = lastClaim(lock, first);
    if (last.isAlive) return last.holder;
    const claim = claimAfter(lock, last.holder);
    if (!place(draft, claim)) continue;
    let isPlaced = false;
    try {
      if (readHolder(lock)?.token === first.token) {
        renameSync(claim, lock);
        isPlaced = true;
        return undefined;
      }
    } finally {
      if (!isPlaced) rmSync(claim, { force: true });
    }
  }
}

/** A link that leads nowhere has no holder, and yet takes the name of the lock. */
function refuseLink(lock: string): void {
  const target = unlessSystemError(() => readlinkSync(lock));
  if (target === undefined || existsSync(lock)) return;
  throw new Error(`expected a lock file or none at ${lock}, got a symbolic link to ${target}, which does not exist`);
}

function unlessSystemError<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!isAnySystemError(error)) throw error;
    return undefined;
  }
}

/**
 * A live process that holds the lock although its file was removed: it has a sign, and is not contending. Removes the
 * signs of dead ones, which would be asked again each time.
 */
function holderWithoutFile(lock: string): Holder | undefined {
  for (const suffix of suffixesOf(lock)) {
    const token = SIGN.exec(suffix)?.[1];
    if (token === undefined || existsSync(draftOf(lock, token))) continue;
    const sign = signOf(lock, token);
    if (isPresent(sign)) return { token, process: undefined };
    attempt(() => rmSync(sign, { force: true }));
  }
  return undefined;
}

/** The live process among the holder and successive claimants; if none is alive, the last one. */
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

/**
 * Syncs the file, so that it is complete even after power loss. It exists before `identify` shows a sign: a live process
 * with a sign and no draft is the holder, and one that releases its lock makes a draft again.
 */
function writeDraft(path: string, identify: () => string): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeSync(descriptor, identify());
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Renames the draft; false if the name is taken. */
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

/** Removes files of processes that were killed while locking; called by the holder. */
function removeLeftovers(lock: string): void {
  for (const suffix of suffixesOf(lock)) {
    const path = `${lock}${suffix}`;
    // Each on its own: one may be another user's.
    attempt(() => {
      if (isLeftover(lock, path, suffix)) rmSync(path, { force: true });
    });
  }
}

/** What follows the name of the lock in those of the files beside it. */
function suffixesOf(lock: string): readonly string[] {
  const name = basename(lock);
  return readdirSync(dirname(lock)).flatMap((entry) => (entry.startsWith(name) ? [entry.slice(name.length)] : []));
}

function isLeftover(lock: string, path: string, suffix: string): boolean {
  // A new socket may not be listening yet.
  if (SIGN.test(suffix)) return !isYoung(path) && !isPresent(path);
  if (!LEFTOVER.test(suffix)) return false;
  const holder = readHolder(path);
  return holder !== undefined && !isAlive(holder, path, signOf(lock, holder.token));
}
