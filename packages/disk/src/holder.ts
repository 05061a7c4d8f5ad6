import { readFileSync, statSync } from "node:fs";
import { isPresent, processNamespace } from "./presence.ts";
import { isSystemError } from "./system-error.ts";

/** Who holds a lock, or claims it. */
export interface Holder {
  /** Of this one taking, and never of another one. */
  readonly token: string;
  /** Undefined: what is written there cannot be read. */
  readonly process: ProcessIdentity | undefined;
}

/** A process: its id is given to another one when it has ended, and after a restart of the machine or of its container. */
interface ProcessIdentity {
  readonly pid: number;
  /** When it began, in ticks since the machine started, and which start of the machine that was. Undefined where the system does not tell (all but Linux). */
  readonly start: string | undefined;
  readonly boot: string | undefined;
  /** Where its id counts. Undefined where the system does not tell, or where it could show nobody outside that it lives. */
  readonly namespace: string | undefined;
}

/** On a file system without hard links, a lock is empty for a moment. One that is not readable for so long was left so. */
const MOMENT_MS = 10_000;

const HOLDER = /^(\d+) (\d+|-) ([0-9a-f-]+)(?: (\d+|-))? ([0-9a-f]{16})\n$/;
/** What a process is that has ended, and that its parent has not asked about yet: in a container, often nobody ever does. */
const ENDED = /^[ZX]$/;

/** What this process writes into a lock. `isPresent`: it listens at the sign of life that belongs to the token. */
export function formatOwn(token: string, isPresent: boolean): string {
  const { pid } = process;
  const namespace = isPresent ? processNamespace() : undefined;
  return `${pid} ${statusOf(pid)?.start ?? "-"} ${bootId() ?? "-"} ${namespace ?? "-"} ${token}\n`;
}

/** Who is written there; undefined if nobody is. Throws a system error if it cannot be read. */
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

/** Whether its process id means something to this process: it is not one of another container. */
export function isVisible({ namespace }: ProcessIdentity): boolean {
  return namespace === undefined || namespace === (processNamespace() ?? namespace);
}

/** Whether somebody is there: who cannot be seen as a process is asked at the sign of life that belongs to the holder. */
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

/** Whether a file was made just now. */
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

/** Undefined on other systems than Linux, if it has just ended, or if others may not see it. */
function statusOf(pid: number): ProcessStatus | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name of the program stands in brackets, and may hold anything.
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
    // Another system, or not for everybody.
    return undefined;
  }
}

/** Undefined if the file is not there. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}
