import { readFileSync, statSync } from "node:fs";
import { isPresent, processNamespace } from "./presence.ts";
import { isSystemError } from "./system-error.ts";

/** The process that holds or claims a lock. */
export interface Holder {
  /** Unique to this acquisition. */
  readonly token: string;
  /** Undefined: the content cannot be read. */
  readonly process: ProcessIdentity | undefined;
}

/**
 * Identifies a process. A process id alone is not enough: it is reused after the process ends, or the machine or
 * container restarts.
 */
interface ProcessIdentity {
  readonly pid: number;
  /**
   * The start time in ticks since boot, and the id of that boot. Undefined where the system does not tell (all but
   * Linux).
   */
  readonly start: string | undefined;
  readonly boot: string | undefined;
  /**
   * The namespace in which its id is valid. Undefined where the system does not tell, or where the process could not
   * show outside that it is alive.
   */
  readonly namespace: string | undefined;
}

/** On a file system without hard links, a lock is briefly empty. One that is unreadable for longer was abandoned. */
const MOMENT_MS = 10_000;

const HOLDER = /^(\d+) (\d+|-) ([0-9a-f-]+)(?: (\d+|-))? ([0-9a-f]{16})\n$/;
/** States of an ended process whose parent has not reaped it: in a container, often no one ever does. */
const ENDED = /^[ZX]$/;

/** The content that this process writes into a lock. `isPresent`: it listens on the presence socket of the token. */
export function formatOwn(token: string, isPresent: boolean): string {
  const { pid } = process;
  const namespace = isPresent ? processNamespace() : undefined;
  return `${pid} ${statusOf(pid)?.start ?? "-"} ${bootId() ?? "-"} ${namespace ?? "-"} ${token}\n`;
}

/** Reads the holder of a lock; undefined if there is none. Throws a system error if it cannot be read. */
export function readHolder(path: string): Holder | undefined {
  const text = unlessGone(() => readFileSync(path, "utf8"));
  if (text === undefined) return undefined;
  const [, pid, start, boot, namespace, token] = HOLDER.exec(text) ?? [];
  if (token !== undefined) {
    const [known, bootId, space] = [start, boot, namespace].map(unlessDash);
    return { token, process: { pid: Number(pid), start: known, boot: bootId, namespace: space } };
  }
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : { token: `${stats.ino}-${Math.round(stats.mtimeMs)}`, process: undefined };
}

/** Whether the process id is valid for this process, that is, not from another container. */
export function isVisible({ namespace }: ProcessIdentity): boolean {
  return namespace === undefined || namespace === (processNamespace() ?? namespace);
}

/** Whether the holder is alive; a process in another namespace is probed at its presence socket. */
export function isAlive(holder: Holder, path: string, sign: string): boolean {
  if (holder.process === undefined) return isYoung(path);
  const { pid, start, boot } = holder.process;
  if (boot !== undefined && boot !== (bootId() ?? boot)) return false;
  if (!isVisible(holder.process)) return isPresent(sign);
  if (!isRunning(pid)) return false;
  const status = statusOf(pid);
  if (status === undefined) return true;
  return !ENDED.test(status.state) && (start === undefined || start === status.start);
}

function unlessDash(text: string | undefined): string | undefined {
  return text === "-" ? undefined : text;
}

/** Whether a file was created just now. */
export function isYoung(path: string): boolean {
  const made = statSync(path, { throwIfNoEntry: false });
  return made !== undefined && Math.abs(Date.now() - made.mtimeMs) < MOMENT_MS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isSystemError(error, "EPERM");
  }
}

interface ProcessStatus {
  readonly state: string;
  readonly start: string;
}

/** Undefined on systems other than Linux, if the process just ended, or if access is denied. */
function statusOf(pid: number): ProcessStatus | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The program's name is in parentheses and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", start: fields[19] ?? "-" };
}

function bootId(): string | undefined {
  return readOrUndefined("/proc/sys/kernel/random/boot_id")?.trim();
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // Not Linux, or no permission.
    return undefined;
  }
}

/** Undefined if the file does not exist. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}
