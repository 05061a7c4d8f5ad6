import { constants } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Problem } from "../problem.ts";
import { BYTES_OF_UNIT } from "../settings/setting-bounds.ts";
import { stampOf } from "./file-stamp.ts";
import { asyncFileSystem, type FileSystem, type OpenFile } from "./file-system.ts";
import { problem, systemCodeOf, unreadable } from "./file-system-problem.ts";

/** The result of reading a file. */
export type FileReading =
  | { readonly kind: "read"; readonly bytes: Uint8Array; readonly stamp: string }
  /** The file was written while it was read. */
  | { readonly kind: "changing" }
  | { readonly kind: "gone" }
  /** The stamp is undefined if it could not be taken; the file is then tried every time. */
  | { readonly kind: "refused"; readonly problem: Problem; readonly stamp: string | undefined };

/** The size limit of a file, and what to do about one that exceeds it. */
export interface SizeLimit {
  readonly maxBytes: number;
  readonly hint: string;
}

const SETTLE_ATTEMPTS = 40;
const SETTLE_MS = 25;

/**
 * Reads a regular file within the limit, as of one moment; into `memory` if it is large enough. `file` is its name in
 * problems.
 */
export async function readWholeFile(
  absolute: string,
  file: string,
  limit: SizeLimit,
  files: FileSystem = asyncFileSystem,
  memory?: Uint8Array,
): Promise<FileReading> {
  let handle: OpenFile;
  try {
    // Without O_NONBLOCK, opening a pipe blocks until it has a writer.
    handle = await files.open(absolute, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return refusal(error, file);
  }
  try {
    return await readOpenFile(handle, file, limit, memory);
  } catch (error) {
    return refusal(error, file);
  } finally {
    await handle.close();
  }
}

/** Reads a file, and retries if it is written meanwhile; fails if that never stops. */
export async function readSettledFile(
  absolute: string,
  file: string,
  limit: SizeLimit,
): Promise<Exclude<FileReading, { kind: "changing" }>> {
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) {
    const reading = await readWholeFile(absolute, file, limit);
    if (reading.kind !== "changing") return reading;
    await sleep(SETTLE_MS);
  }
  return { kind: "refused", problem: alwaysChanging(file), stamp: undefined };
}

/** The problem of a file that is written all the time. */
export function alwaysChanging(file: string): Problem {
  const message = "expected a file that is finished, it is written to all the time";
  return problem("FILE_CHANGING", file, message, { hint: "write it under another name and rename it when it is done" });
}

async function readOpenFile(
  handle: OpenFile,
  file: string,
  limit: SizeLimit,
  memory: Uint8Array | undefined,
): Promise<FileReading> {
  const before = await handle.stat();
  const stamp = stampOf(before);
  if (!before.isFile()) {
    const got = before.isDirectory() ? "a folder" : "a device, a socket or a pipe";
    const message = `expected a regular file, got ${got}`;
    return { kind: "refused", stamp, problem: problem("FILE_NOT_REGULAR", file, message) };
  }
  if (Number(before.size) > limit.maxBytes) {
    return { kind: "refused", stamp, problem: tooLarge(file, Number(before.size), limit) };
  }
  const bytes = await handle.readFile(Number(before.size), memory);
  const after = await handle.stat();
  if (stampOf(after) !== stamp || BigInt(bytes.length) !== before.size) return { kind: "changing" };
  return { kind: "read", bytes, stamp };
}

function refusal(error: unknown, file: string): FileReading {
  const systemCode = systemCodeOf(error);
  if (systemCode === undefined) throw error;
  if (systemCode === "ENOENT") return { kind: "gone" };
  return { kind: "refused", problem: unreadable(file, "file", systemCode), stamp: undefined };
}

/** Whether a file was refused for its size. */
export function isTooLarge(reading: FileReading): boolean {
  return reading.kind === "refused" && reading.problem.code === "FILE_TOO_LARGE";
}

/** The limit of the files of a directory but its settings. */
export function fileLimit(maxBytes: number): SizeLimit {
  return { maxBytes, hint: "split the file, or raise limits.max-file-bytes" };
}

function tooLarge(file: string, size: number, { maxBytes, hint }: SizeLimit): Problem {
  const [most, got] = [formatSize(maxBytes), formatSize(size)];
  const [expected, found] = most === got ? [`${maxBytes} bytes`, `${size} bytes`] : [most, got];
  return problem("FILE_TOO_LARGE", file, `expected at most ${expected} in one file, got ${found}`, { hint });
}

/** A size in its largest unit, to one decimal place. */
function formatSize(bytes: number): string {
  for (const unit of ["GiB", "MiB", "KiB"]) {
    const bytesOfUnit = BYTES_OF_UNIT[unit] ?? 1;
    if (bytes >= bytesOfUnit) return `${(bytes / bytesOfUnit).toFixed(1).replace(/\.0$/, "")} ${unit}`;
  }
  return `${bytes} bytes`;
}
